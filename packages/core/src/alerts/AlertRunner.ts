/**
 * Looks for problems in every workspace in the background, opens and closes their alerts, and sends the alerts by mail
 * and as signed posts.
 */
import { Clock, Context, Duration, Effect, FiberSet, Layer, Option, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import { CampaignStore } from "../campaigns/CampaignStore.ts"
import { ChangeRecorder } from "../changes/ChangeRecorder.ts"
import * as Id from "../Id.ts"
import { ApiKeyStore } from "../keys/ApiKeyStore.ts"
import * as Signature from "../keys/Signature.ts"
import { CurrentLimits } from "../limits/Limits.ts"
import * as Quota from "../limits/Quota.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import * as Mailer from "../people/Mailer.ts"
import { Provider } from "../provider/Provider.ts"
import { QueueStore } from "../queue/QueueStore.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import { Vault } from "../secrets/Vault.ts"
import { SubscriptionStore } from "../subscriptions/SubscriptionStore.ts"
import { TemplateStore } from "../templates/TemplateStore.ts"
import { iso } from "../Time.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import { DeliveryStore } from "../webhooks/DeliveryStore.ts"
import * as WebhookHealth from "../webhooks/WebhookHealth.ts"
import { Webhooks } from "../webhooks/Webhooks.ts"
import { WebhookStore } from "../webhooks/WebhookStore.ts"
import { WebhookTransport } from "../webhooks/WebhookTransport.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import * as Alert from "./Alert.ts"
import { AlertStore } from "./AlertStore.ts"

/** How often workspaces are checked. Any number of processes may check; each alert is sent by one of them. */
export const every = Duration.minutes(1)

/** How many workspaces are checked concurrently, few enough not to delay requests. */
const concurrency = 4

/** How many exhausted deliveries are looked at: behind so many failed tests others are not noticed. */
const newestExhausted = 100

/** The timeout of one post. */
const timeout = Duration.seconds(5)

/** A failed post or mail is retried twice. */
const again = Schedule.upTo(Schedule.exponential("5 seconds", 6), { times: 2 })

/** Where alerts of workspaces without a URL of their own are posted (contract §8 `ALERT_URL`). */
export const AlertUrl = Context.Reference<string | undefined>("@wac/core/alerts/AlertRunner/AlertUrl", {
  defaultValue: () => undefined
})

/**
 * The id of the post about an alert, in its body and in `webhook-id`: receivers that remember ids would take the post
 * that it is over for a repetition if both had the alert's own.
 */
const postId = ({ closedAt, id }: Alert.Alert): string => closedAt === null ? id : `${id}_closed`

/** The body of a post about an opened or closed alert. */
export const body = (alert: Alert.Alert): string =>
  JSON.stringify({
    id: postId(alert),
    object: "alert",
    type: alert.closedAt === null ? "alert.opened" : "alert.closed",
    created_at: iso(alert.closedAt ?? alert.openedAt),
    tenant_id: alert.workspaceId,
    data: { alert_id: alert.id, kind: alert.kind, subject: alert.subject, message: alert.message }
  })

/** The mail about an opened or closed alert. */
export const mail = (to: string, { name }: Pick<Workspace, "name">, alert: Alert.Alert): Mailer.Mail => ({
  to,
  subject: `${alert.closedAt === null ? "Alert" : "Over"}: ${alert.message} (${name})`.replaceAll(/\p{Cc}+/gu, " "),
  text: `${alert.message}

Workspace: ${name}
Since: ${iso(alert.openedAt)}
${alert.closedAt === null ? "" : `Over since: ${iso(alert.closedAt)}\n`}`
})

/** Runs as long as its scope. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* AlertStore
    const workspaces = yield* WorkspaceStore
    const webhooks = yield* WebhookStore
    const reports = yield* Webhooks
    const deliveries = yield* DeliveryStore
    const numbers = yield* PhoneNumberStore
    const templates = yield* TemplateStore
    const campaigns = yield* CampaignStore
    const keys = yield* ApiKeyStore
    const queue = yield* QueueStore
    const subscriptions = yield* SubscriptionStore
    const usage = yield* UsageStore
    const transport = yield* WebhookTransport
    const vault = yield* Vault
    const limits = yield* CurrentLimits
    const { name: provider } = yield* Provider
    const random = yield* SecureRandom.SecureRandom
    const send = yield* Mailer.ofWorkspace
    const alertUrl = yield* AlertUrl
    const tellPages = yield* ChangeRecorder
    const telling = yield* FiberSet.make()

    const webhookOf = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId) {
      const found = Option.getOrUndefined(yield* webhooks.find(workspaceId))
      if (found === undefined || found.pausedAt !== null || !WebhookHealth.isFailing(found.health)) {
        return found && { ...found, pausesAt: null }
      }
      const { pausesAt } = yield* reports.get(workspaceId)
      return { ...found, pausesAt }
    })

    const problems = Effect.fnUntraced(function*({ id, monthlyQuota }: Workspace) {
      const now = yield* Clock.currentTimeMillis
      const month = Quota.monthOf(now)
      const [
        webhook,
        { items: exhausted },
        ofNumbers,
        { items: pausedTemplates },
        pausedCampaigns,
        expiringKeys,
        months,
        backlog,
        standings
      ] = yield* Effect.all(
        [
          webhookOf(id),
          deliveries.list(id, { status: "exhausted" }, { limit: newestExhausted, after: null }),
          numbers.list(id),
          templates.list(id, { status: "paused" }, { limit: 100, after: null }),
          campaigns.paused(id),
          keys.expiring(id, Alert.expiringAt(now)),
          usage.months(id),
          queue.backlog(id, now),
          subscriptions.standings(id)
        ]
      )
      return Alert.problems({
        now,
        provider,
        webhook,
        exhausted: exhausted.map(({ delivery }) => delivery),
        numbers: ofNumbers,
        pausedTemplates,
        pausedCampaigns,
        expiringKeys,
        queue: backlog,
        subscriptions: standings,
        quota: {
          month,
          used: months.find((one) => one.month === month)?.used ?? 0,
          limit: monthlyQuota ?? limits.defaults.monthlyQuota
        }
      })
    })

    const post = Effect.fnUntraced(function*(url: string, workspaceId: Id.WorkspaceId, alert: Alert.Alert) {
      const webhook = Option.getOrUndefined(yield* webhooks.find(workspaceId))
      // without a webhook there is no secret to sign with
      if (webhook === undefined) return
      const now = yield* Clock.currentTimeMillis
      const live = webhook.secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
      const secrets = yield* Effect.forEach(live, ({ sealed }) => vault.open(sealed, webhook.id))
      const text = body(alert)
      const attempt = Effect.gen(function*() {
        const headers = yield* Signature.deliveryHeaders({
          eventId: postId(alert),
          body: text,
          secrets,
          now: yield* Clock.currentTimeMillis
        })
        const { message, outcome } = yield* transport.post({ url, headers, body: text, timeout })
        if (outcome !== "delivered") return yield* Effect.fail(message)
      })
      yield* Effect.retry(attempt, again)
    })

    const tell = Effect.fnUntraced(function*(workspace: Workspace, alert: Alert.Alert) {
      const { emails, url } = yield* store.settings(workspace.id)
      const to = url ?? alertUrl
      if (to !== undefined) {
        yield* Effect.catchCause(
          post(to, workspace.id, alert),
          (cause) => Effect.logWarning(`the alert ${alert.id} could not be posted`, cause)
        )
      }
      yield* Effect.forEach(
        emails,
        (email) =>
          Effect.catch(
            Effect.retry(send(workspace.id, mail(email, workspace, alert)), again),
            ({ message }) => Effect.logWarning(`a mail could not be sent: ${message}`)
          ),
        { concurrency: "unbounded", discard: true }
      )
    })

    const look = Effect.fnUntraced(function*(workspace: Workspace) {
      const found = yield* problems(workspace)
      const { closed, opened, unfinished } = yield* store.observe({
        now: yield* Clock.currentTimeMillis,
        workspaceId: workspace.id,
        problems: found,
        ids: yield* Effect.forEach(found, () => Id.generate(random, "alr"))
      })
      if (opened.length + closed.length > 0) tellPages({ workspaceId: workspace.id, topic: "alerts" })
      for (const alert of [...opened, ...closed, ...unfinished]) {
        yield* FiberSet.run(
          telling,
          Effect.catchCause(
            // if the process stops meanwhile, another one sends them
            Effect.andThen(tell(workspace, alert), store.finish(alert)),
            (cause) => Effect.logWarning(`no recipient could be notified of the alert ${alert.id}`, cause)
          )
        )
      }
    })

    const round = Effect.flatMap(workspaces.list, (all) => RepeatedFailure.each(all, look, { concurrency }))
    yield* Effect.forkScoped(BackgroundLoop.rested("checking for alerts", round, Effect.sleep(every)))
  })
)
