/**
 * `SealedSecretStore` in memory: each method is one synchronous step over `State`.
 */
import { type Sealed, SealedSecretStore } from "@wac/core"
import { Effect, Equal, Layer } from "effect"
import { type Memory, State } from "../State.ts"

/** Something that holds a sealed secret. */
interface Place extends SealedSecretStore.SealedSecret {
  readonly set: (after: Sealed.Sealed) => void
}

const places = function*(memory: Memory): Generator<Place> {
  if (memory.pepper !== undefined) {
    yield { row: SealedSecretStore.pepperRow, sealed: memory.pepper, set: (after) => memory.pepper = after }
  }
  for (const key of memory.apiKeys.values()) {
    yield {
      row: key.id,
      sealed: key.signingSecret,
      set: (signingSecret) => memory.apiKeys.set({ ...key, signingSecret })
    }
  }
  for (const [row, credentials] of memory.credentials) {
    yield {
      row,
      sealed: credentials.accessToken,
      set: (accessToken) => memory.credentials.set(row, { ...credentials, accessToken })
    }
  }
  for (const [row, kept] of memory.factors) {
    const { app } = kept.factor
    if (app === null) continue
    yield {
      row,
      sealed: app.secret,
      set: (secret) => memory.factors.set(row, { ...kept, factor: { ...kept.factor, app: { ...app, secret } } })
    }
  }
  for (const [row, values] of memory.requestValues) {
    yield { row, sealed: values.sealed, set: (sealed) => memory.requestValues.set(row, { ...values, sealed }) }
  }
  for (const outbox of memory.outboxes.values()) {
    for (const secret of outbox.webhook.secrets) {
      yield {
        row: outbox.webhook.id,
        sealed: secret.sealed,
        set: (sealed) => {
          const { secrets } = outbox.webhook
          outbox.webhook = {
            ...outbox.webhook,
            secrets: secrets.map((one) => one === secret ? { ...one, sealed } : one)
          }
        }
      }
    }
  }
}

const under = (
  memory: Memory,
  keyId: string,
  { after, limit }: { readonly after: SealedSecretStore.SecretRow | null; readonly limit: number }
): ReadonlyArray<SealedSecretStore.SealedSecret> => {
  const found = Array.from(places(memory))
    .filter(({ row, sealed }) => sealed.keyId === keyId && (after === null || row > after))
    .map(({ row, sealed }) => ({ row, sealed }))
    .sort((a, b) => a.row < b.row ? -1 : a.row > b.row ? 1 : 0)
  const last = found[limit - 1]?.row
  return last === undefined ? found : found.filter(({ row }) => row <= last)
}

const rewrap = (memory: Memory, secrets: ReadonlyArray<SealedSecretStore.Rewrapped>): number => {
  const present = Array.from(places(memory))
  let replaced = 0
  for (const { after, before, row } of secrets) {
    const place = present.find((one) => one.row === row && Equal.equals(one.sealed, before))
    if (place === undefined) continue
    place.set(after)
    replaced++
  }
  return replaced
}

export const layer = Layer.effect(
  SealedSecretStore.SealedSecretStore,
  Effect.map(State, (memory) =>
    SealedSecretStore.SealedSecretStore.of({
      keyIds: Effect.sync(() => [...new Set(Array.from(places(memory), ({ sealed }) => sealed.keyId))]),
      under: (keyId, page) => Effect.sync(() => under(memory, keyId, page)),
      rewrap: (secrets) => Effect.sync(() => rewrap(memory, secrets))
    }))
)
