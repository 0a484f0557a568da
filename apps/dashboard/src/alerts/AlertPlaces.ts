/** Where something can be done about an alert. */
import type { AlertKind } from "@wac/client/internal"

export const alertPlaces = {
  campaign_paused: "/campaigns",
  key_expires_in_1_day: "/api-keys",
  key_expires_in_30_days: "/api-keys",
  key_expires_in_7_days: "/api-keys",
  number_blocked: "/phone-numbers",
  number_low_quality: "/phone-numbers",
  queue_late: "/messages",
  quota_high: "/usage",
  quota_used_up: "/usage",
  template_paused: "/templates",
  webhook_failing: "/settings/webhook",
  webhook_paused: "/settings/webhook",
  webhook_pausing: "/settings/webhook"
} as const satisfies Record<AlertKind, string>
