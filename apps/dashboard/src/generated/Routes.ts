/** The routes of requests with API keys. Written from the API definition; do not edit. */

export const routes: ReadonlyArray<string> = [
  "/v1/messages",
  "/v1/messages/batch",
  "/v1/messages/:id/read",
  "/v1/messages/:id",
  "/v1/media",
  "/v1/media/:id",
  "/v1/templates",
  "/v1/campaigns",
  "/v1/campaigns/:id",
  "/v1/campaigns/:id/recipients",
  "/v1/campaigns/:id/check",
  "/v1/campaigns/:id/start",
  "/v1/campaigns/:id/pause",
  "/v1/campaigns/:id/resume",
  "/v1/campaigns/:id/cancel",
  "/v1/contacts/:name/opt-out",
  "/v1/events"
]
