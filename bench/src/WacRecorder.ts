/**
 * Records our events through the core's ports, like a process next to the server that receives customers' messages.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { ContactStore, PhoneNumber, Vault, Webhooks, WorkspaceStore } from "@wac/core"
import { PostgresStorage } from "@wac/postgres"
import { ReceiverAddress, ReceiverGuardDns, WebhookTransportHttp } from "@wac/receivers"
import { Effect, Layer, ManagedRuntime, Redacted, Result } from "effect"
import * as Time from "./Time.ts"
import * as WebhookEvent from "./WebhookEvent.ts"

interface Options {
  readonly databaseUrl: string
  readonly masterKey: string
  readonly urls: ReadonlyArray<string>
}

/** The allowed receivers: as the server's environment variable, and as the rules of the receiver guard. */
export const loopback = "127.0.0.0/8"

const rules: ReceiverGuardDns.ReceiverRules = {
  allowInsecure: true,
  allowedCidrs: Result.getOrThrow(ReceiverAddress.parseCidrs(loopback))
}

const layer = ({ databaseUrl, masterKey }: Options) =>
  Webhooks.Webhooks.layer.pipe(
    Layer.provideMerge(Vault.Vault.layer({ current: Redacted.make(Buffer.from(masterKey, "base64")) })),
    Layer.provideMerge(Layer.merge(ReceiverGuardDns.layer(rules), WebhookTransportHttp.layer(rules))),
    Layer.provideMerge(PostgresStorage.layerServer({ url: Redacted.make(databaseUrl), migrate: false })),
    Layer.provideMerge(NodeCrypto.layer)
  )

/** Creates a workspace with a number and a webhook at this URL. */
const furnish = Effect.fnUntraced(function*(url: string, n: number) {
  const workspaceId = WebhookEvent.id("ws")
  const number = WebhookEvent.numberOf(n)
  yield* WorkspaceStore.WorkspaceStore.use((store) =>
    store.create({
      workspace: {
        id: workspaceId,
        name: `bench ${n}`,
        createdAt: Time.now(),
        tier: null,
        monthlyQuota: null,
        suspended: false
      },
      phoneNumber: PhoneNumber.fresh({
        ...number,
        id: WebhookEvent.id("pn"),
        workspaceId,
        provider: "bench",
        providerAccountId: "bench",
        learned: PhoneNumber.unlearned,
        isDefault: true
      })
    })
  )
  const { signingSecret } = yield* Webhooks.Webhooks.use((webhooks) =>
    webhooks.put({ workspaceId, url, envelope: undefined, eventTypes: undefined })
  )
  const webhook: WebhookEvent.Webhook = { workspaceId, ...number, url, secret: Redacted.value(signingSecret!) }
  return webhook
})

/** Opens the recorder. The server must have migrated the database first. */
export const open = async (options: Options) => {
  const runtime = ManagedRuntime.make(layer(options))
  const webhooks = await runtime.runPromise(Effect.forEach(options.urls, furnish, { concurrency: 8 }))
  const contacts = await runtime.runPromise(ContactStore.ContactStore)
  const record: WebhookEvent.RecordEvents = (events) =>
    runtime.runPromise(Effect.forEach(
      events,
      ({ at, id, message, messageId }) =>
        Effect.flatMap(
          contacts.recordInbound({
            now: at,
            hashes: {},
            message,
            messageId,
            ids: { events: [id], deliveries: [WebhookEvent.id("dlv")] }
          }),
          (recorded) =>
            recorded === "recorded" ? Effect.void : Effect.die(new Error(`the event was not recorded: ${recorded}`))
        ),
      { concurrency: "unbounded", discard: true }
    ))
  return { webhooks, record }
}
