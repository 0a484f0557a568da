/**
 * A workspace over the memory storage, with everything that a service needs, and stubs for the provider and the
 * receivers.
 */
import { MemoryStorage } from "@wac/memory"
import { Clock, Effect, Layer, Redacted } from "effect"
import { Aead, Digest, Mac, SecureRandom } from "effect/crypto"
import * as Id from "../src/Id.ts"
import type { IdempotencyKey } from "../src/Idempotency.ts"
import type { ApiKey } from "../src/keys/ApiKey.ts"
import { ApiKeys } from "../src/keys/ApiKeys.ts"
import type { OutboundMessage } from "../src/messages/Message.ts"
import * as PhoneNumber from "../src/numbers/PhoneNumber.ts"
import * as Capabilities from "../src/provider/Capabilities.ts"
import {
  Provider,
  type ProviderError,
  type ProviderOutcome,
  type ProviderSend,
  type TemplatesUnavailable
} from "../src/provider/Provider.ts"
import { Vault } from "../src/secrets/Vault.ts"
import type { ProviderTemplate } from "../src/templates/Template.ts"
import { TemplateRequests } from "../src/templates/TemplateRequests.ts"
import { TemplateStore } from "../src/templates/TemplateStore.ts"
import type { Instant } from "../src/Time.ts"
import type { Workspace } from "../src/workspaces/Workspace.ts"
import { WorkspaceStore } from "../src/workspaces/WorkspaceStore.ts"
import { hold } from "./clock.ts"

export const crypto = Layer.mergeAll(Mac.layerWebCrypto, Digest.layerWebCrypto, Aead.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

const masterKey = Redacted.make(new Uint8Array(32).fill(7))

/** Storage, cryptography and the vault. Every build has its own storage. */
export const foundation = Vault.layer({ current: masterKey }).pipe(
  Layer.provideMerge(Layer.mergeAll(MemoryStorage.layer, crypto, TemplateRequests.layer))
)

/** {@link foundation}'s vault, where each send hashes its recipient's name in the middle of what a runner times. */
export const heldVault = Layer.effect(
  Vault,
  Effect.map(
    Vault,
    (real) => Vault.of({ ...real, fingerprint: (secret) => Effect.andThen(hold, real.fingerprint(secret)) })
  )
)

export const newId = <Prefix extends keyof Id.ByPrefix>(prefix: Prefix) =>
  SecureRandom.SecureRandom.use((random) => Id.generate(random, prefix))

export const key = (text: string) => text as IdempotencyKey

export const templates: ReadonlyArray<ProviderTemplate> = [
  { name: "plain", category: "utility", text: "Hello." },
  { name: "order", category: "utility", text: "Order {{1}} is {{2}}." },
  { name: "promo", category: "marketing", text: "Buy {{1}}!" }
].map(({ category, name, text }) => ({
  providerTemplateId: `provider-${name}`,
  name,
  language: "en_US",
  category,
  status: "approved",
  parameterFormat: "positional",
  components: [{ type: "BODY", text }],
  quality: null,
  rejectionReason: null
}))

/** A message that may always be sent. */
export const plain = (to = "+12025550123", fields: { readonly clientReference?: string } = {}): OutboundMessage => ({
  type: "template",
  to,
  template: { name: "plain", language: "en_US" },
  ...fields
})

export const text = (body = "How are you?", to = "+12025550123"): OutboundMessage => ({
  type: "text",
  to,
  text: { body }
})

export interface World {
  readonly workspace: Workspace
  readonly number: PhoneNumber.PhoneNumber
}

/** A workspace with its number and {@link templates}. */
export const world = (
  workspace: Partial<Pick<Workspace, "tier" | "monthlyQuota">> = {}
): Effect.Effect<World, never, WorkspaceStore | TemplateStore | SecureRandom.SecureRandom> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const workspaceId = yield* newId("ws")
    const numberId = yield* newId("pn")
    const made: World = {
      workspace: {
        id: workspaceId,
        name: "Acme",
        createdAt: now,
        tier: null,
        monthlyQuota: null,
        suspended: false,
        ...workspace
      },
      number: PhoneNumber.fresh({
        ...providerNumber,
        id: numberId,
        workspaceId,
        provider: "stub",
        providerNumberId: `number-${numberId}`,
        isDefault: true
      })
    }
    yield* WorkspaceStore.use((store) => store.create({ workspace: made.workspace, phoneNumber: made.number }))
    const ids = yield* Effect.replicateEffect(newId("tpl"), templates.length)
    const { providerAccountId } = made.number
    yield* TemplateStore.use((store) =>
      store.replaceAll({ now, listedAt: now, workspaceId, providerAccountId, listed: templates, ids })
    )
    return made
  }).pipe(Effect.orDie)

/** An API key of the workspace, and its token. */
export const issueKey = (
  workspaceId: Id.WorkspaceId,
  fields: { readonly name?: string; readonly expiresAt?: Instant } = {}
): Effect.Effect<{ readonly key: ApiKey; readonly token: string }, never, ApiKeys | SecureRandom.SecureRandom> =>
  Effect.gen(function*() {
    const random = yield* SecureRandom.SecureRandom
    const issued = yield* ApiKeys.use((keys) =>
      Effect.flatMap(random.uuidV4({}), (idempotencyKey) =>
        keys.issue({
          workspaceId,
          name: fields.name ?? "a key",
          expiresAt: fields.expiresAt ?? null,
          requireSignature: false,
          scopes: undefined,
          caller: "somebody",
          idempotencyKey: key(idempotencyKey)
        }))
    )
    return { key: issued.key, token: Redacted.value(issued.secrets!.token) }
  }).pipe(Effect.orDie)

/** The provider's first number. */
export const providerNumber: PhoneNumber.ProviderNumber = {
  phoneNumber: "+14155550100",
  providerNumberId: "1",
  providerAccountId: "account-1",
  learned: { ...PhoneNumber.unlearned, quality: "green" }
}

/** A provider that records calls and responds as set, by default immediately with a new id. */
export const stubProvider = () => {
  const calls: Array<ProviderSend & { readonly at: Instant }> = []
  const stub = {
    calls,
    /** Thrown by the call itself, before it returns an effect. */
    throws: undefined as Error | undefined,
    answer: (_: ProviderSend, call: number): Effect.Effect<ProviderOutcome> =>
      Effect.succeed({ _tag: "Accepted", providerMessageId: `wamid.${call}` }),
    firstNumber: Effect.succeed(providerNumber) as Effect.Effect<PhoneNumber.ProviderNumber, ProviderError>,
    templates: Effect.succeed(templates) as Effect.Effect<ReadonlyArray<ProviderTemplate>, TemplatesUnavailable>,
    /** The templates of a number's account, by default {@link templates}. */
    templatesOf: (_: PhoneNumber.PhoneNumber) => stub.templates,
    /** Called for every listing. */
    listed: (_: PhoneNumber.PhoneNumber, _at: Instant): void => {}
  }
  const stubbed = Layer.succeed(
    Provider,
    Provider.of({
      name: "stub",
      capabilities: Capabilities.all,
      send: (command) => {
        if (stub.throws !== undefined) throw stub.throws
        return Effect.flatMap(Clock.currentTimeMillis, (at) => {
          calls.push({ ...command, at })
          return stub.answer(command, calls.length)
        })
      },
      firstNumber: Effect.suspend(() => stub.firstNumber),
      templates: (sender) =>
        Effect.flatMap(Clock.currentTimeMillis, (at) => {
          stub.listed(sender, at)
          return stub.templatesOf(sender)
        })
    })
  )
  return Object.assign(stub, { layer: stubbed })
}
