/**
 * The service for alerts: lists them, and validates and stores their settings.
 */
import { Context, Effect, Layer } from "effect"
import type { InvalidBody } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import * as EmailAddress from "../people/EmailAddress.ts"
import type { StoreError } from "../StoreError.ts"
import { ReceiverGuard } from "../webhooks/ReceiverGuard.ts"
import * as Webhook from "../webhooks/Webhook.ts"
import type { Alert, Settings } from "./Alert.ts"
import { AlertStore } from "./AlertStore.ts"

export class Alerts extends Context.Service<Alerts, {
  /** Newest first. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: { readonly open?: boolean },
    page: PageRequest
  ) => Effect.Effect<Page<Alert>, StoreError>
  readonly settings: (workspaceId: WorkspaceId) => Effect.Effect<Settings, StoreError>
  /** Replaces the settings. E-mail addresses are normalized; a URL must pass the receiver guard. */
  readonly configure: (
    workspaceId: WorkspaceId,
    settings: Settings
  ) => Effect.Effect<Settings, InvalidBody | StoreError>
}>()("@wac/core/alerts/Alerts") {
  static readonly layer = Layer.effect(
    Alerts,
    Effect.gen(function*() {
      const store = yield* AlertStore
      const guard = yield* ReceiverGuard
      return Alerts.of({
        list: store.list,
        settings: store.settings,
        configure: Effect.fn("Alerts.configure")(function*(workspaceId, { emails, url }) {
          const parsed = url === null ? null : Webhook.parseUrl(url, guard)
          if (parsed !== null) {
            if (!(parsed instanceof URL)) return yield* parsed
            yield* guard.check(parsed)
          }
          // stored in its parsed form, whose length was checked: the given text may be far longer
          const settings = { emails: [...new Set(emails.map(EmailAddress.normalize))], url: parsed?.href ?? null }
          yield* store.configure(workspaceId, settings)
          return settings
        })
      })
    })
  )
}
