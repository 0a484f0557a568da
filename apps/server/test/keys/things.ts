/**
 * A thing of a workspace for each route that takes an id.
 */
import { Contact, ContactStore, type Id, PhoneNumberStore } from "@wac/core"
import { Context, Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, send } from "../harness.ts"
import { png, upload } from "../media/files.ts"
import type { Movable } from "../movable.ts"

/** A workspace, and how its owner and its programs call. */
export interface Own {
  readonly url: string
  readonly services: checks.Ready["services"]
  readonly id: Id.WorkspaceId
  readonly key: { readonly id: string; readonly apiKey: string }
  readonly owner: { readonly [name: string]: string }
  /** Lets time pass, if the server's stands still. */
  readonly pass?: Movable["pass"]
}

/** By the path of the route; a new such route needs one here. */
export const byPath = (
  ids: {
    readonly message: string
    readonly contact: string
    readonly key: string
    readonly event: string
    readonly delivery: string
    readonly replay: string
    readonly invitation: string
    readonly session: string
    readonly campaign: string
    readonly template: string
    readonly file: string
    readonly request: string
  }
): { readonly [path: string]: string } => ({
  "/v1/messages/:id": ids.message,
  // to be read are customers' messages; for one of its own it is answered as for none
  "/v1/messages/:id/read": ids.message,
  "/v1/media/:id": ids.file,
  "/internal/messages/:id": ids.message,
  "/internal/requests/:id": ids.request,
  "/internal/requests/:id/values": ids.request,
  "/internal/contacts/:id": ids.contact,
  "/internal/contacts/:id/opt-out": ids.contact,
  "/internal/contacts/:id/messages": ids.contact,
  "/internal/api-keys/:id": ids.key,
  "/internal/events/:id": ids.event,
  "/internal/webhook/deliveries/:id": ids.delivery,
  "/internal/webhook/deliveries/:id/retry": ids.delivery,
  "/internal/webhook/replays/:id": ids.replay,
  "/internal/members/:id": ids.invitation,
  "/internal/members/:id/sessions": ids.invitation,
  "/internal/members/:id/factor": ids.invitation,
  "/internal/factor/passkeys/:id": ids.invitation,
  "/internal/sessions/:id": ids.session,
  "/internal/templates/:id": ids.template,
  "/internal/campaigns/:id/problems": ids.campaign,
  "/internal/campaigns/:id/timeline": ids.campaign,
  ...Object.fromEntries(
    ["/v1", "/internal"].flatMap((door) =>
      ["", "/recipients", "/check", "/start", "/pause", "/resume", "/cancel"].map((rest) => [
        `${door}/campaigns/:id${rest}`,
        ids.campaign
      ])
    )
  )
})

/** Sets the webhook to a receiver that is never reached. */
export const setWebhook = ({ owner, url }: Pick<Own, "url" | "owner">, port: number) =>
  call(`${url}/internal/webhook`, {
    method: "PUT",
    headers: owner,
    body: { url: `http://127.0.0.1:${port}/` }
  })

/** The workspace's number. */
export const numberOf = ({ id, services }: Pick<Own, "id" | "services">) =>
  Effect.orDie(Context.get(services, PhoneNumberStore.PhoneNumberStore).list(id)).pipe(
    Effect.map(([number]) => number!)
  )

/** A customer; gives the contact's id. */
const contactOf = Effect.fnUntraced(function*(own: Own) {
  const { id, providerNumberId } = yield* numberOf(own)
  const phone = "+15005550003"
  yield* Effect.orDie(
    Context.get(own.services, ContactStore.ContactStore).setPreference({
      now: 2,
      at: 1,
      hashes: { [phone]: "hash" },
      providerNumberId,
      customer: { phone, userId: null },
      preference: "opt_in"
    })
  )
  return Contact.placeOf({ phoneNumberId: id, key: phone })
})

/** Sends a message, of which a paused webhook is to be told; gives the workspace's things. */
export const make = Effect.fnUntraced(function*(own: Own) {
  const { key, owner, url } = own
  const webhook = yield* setWebhook(own, 1)
  // an earlier call has paused it
  yield* call(`${url}/internal/webhook/resume`, { headers: owner, body: { replay: "none", force: true } })
  const replay = yield* call(`${url}/internal/webhook/replays`, {
    headers: owner,
    body: { since: webhook.body.createdAt }
  })
  // replays are looked for every second, and wait while the webhook is paused
  yield* own.pass?.("1 second") ?? Effect.void
  yield* checks.until(
    call(`${url}/internal/webhook/replays/${replay.body.id}`, { headers: owner }),
    ({ body }) => body.state === "completed"
  )
  yield* call(`${url}/internal/webhook/pause`, { method: "POST", headers: owner })
  // before the key is used, so that no process knows it without the switch
  yield* call(`${url}/internal/settings/request-values`, { method: "PUT", headers: owner, body: { on: true } })
  const sent = yield* send({ url, key }, hello("+15005550003"))
  const deliveries = yield* call(`${url}/internal/webhook/deliveries`, { headers: owner })
  const [delivery] = deliveries.body.data
  const request = sent.headers.get("request-id")!
  // they are recorded once a second
  yield* own.pass?.("1 second") ?? Effect.void
  yield* checks.until(
    call(`${url}/internal/requests/${request}`, { headers: owner }),
    ({ body, status }) => status === 200 && body.valuesUntil !== null
  )
  const sessions = yield* call(`${url}/internal/sessions`, { headers: owner })
  return {
    others: [webhook.body.id, sent.body.provider_message_id] as ReadonlyArray<string>,
    thing: byPath({
      message: sent.body.message_id,
      request,
      contact: yield* contactOf(own),
      key: key.id,
      event: delivery.eventId,
      delivery: delivery.id,
      replay: replay.body.id,
      // a host's people cannot be invited over HTTP
      invitation: (yield* checks.invite(own.services, own.id, "invited@example.com", "member")).invitation.id,
      template: (yield* call(`${url}/internal/templates`, { headers: owner })).body.data[0].id,
      file: (yield* upload({ url, authorization: `Bearer ${key.apiKey}` }, { bytes: png, filename: "a.png" })).body
        .media_id,
      campaign: (yield* call(`${url}/internal/campaigns`, {
        headers: owner,
        body: { name: "All", template: { name: "hello_world", language: "en_US" } }
      })).body.id,
      // a host's people have no sessions of ours
      session: sessions.body.data[0]?.id ?? `ses_${checks.nobody}`
    })
  }
})
