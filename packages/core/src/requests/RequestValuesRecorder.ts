/**
 * Keeps the values of API requests in the background (contract §17): looks up which templates carry codes, seals the
 * values that may be kept, and writes them through `RequestValuesStore`.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { RequestId, WorkspaceId } from "../Id.ts"
import * as Recorder from "../Recorder.ts"
import { Vault } from "../secrets/Vault.ts"
import { TemplateStore } from "../templates/TemplateStore.ts"
import type { ValuesSwitch } from "../workspaces/ValuesSwitch.ts"
import * as BodyValues from "./BodyValues.ts"
import { RequestValuesStore } from "./RequestValuesStore.ts"

/** The values of one request, before those of templates that carry codes are redacted. */
export interface TakenValues {
  readonly workspaceId: WorkspaceId
  readonly requestId: RequestId
  readonly epoch: ValuesSwitch["epoch"]
  readonly values: BodyValues.Unchecked
}

/** The maximum number of requests in one statement. */
const size = 100

/** The maximum number of requests in the backlog, of at most 8 KiB each. */
const capacity = 1000

/** Keeps the values of a request. By default it does nothing. */
export const RequestValuesRecorder = Context.Reference<(taken: TakenValues) => void>(
  "@wac/core/requests/RequestValuesRecorder",
  { defaultValue: () => () => {} }
)

/** Makes the recorder write to the storage, as long as the layer's scope is open. */
export const layer: Layer.Layer<never, never, RequestValuesStore | TemplateStore | Vault> = Layer.effect(
  RequestValuesRecorder,
  Effect.gen(function*() {
    const store = yield* RequestValuesStore
    const templates = yield* TemplateStore
    const vault = yield* Vault

    /** Whether a template carries a one-time code: an authentication template does, an unknown one may. */
    const carriesCode = (workspaceId: WorkspaceId, name: string) =>
      Effect.map(
        templates.list(workspaceId, { name }, { limit: 100, after: null }),
        ({ items }) => items.length === 0 || items.some(({ category }) => category === "authentication")
      )

    const write = Effect.fnUntraced(function*(batch: ReadonlyArray<TakenValues>) {
      const known = new Map<string, boolean>()
      for (const { values, workspaceId } of batch) {
        for (const { name } of values.templates) {
          const place = `${workspaceId} ${name}`
          if (name !== null && !known.has(place)) known.set(place, yield* carriesCode(workspaceId, name))
        }
      }
      const sealed = yield* Effect.forEach(batch, ({ epoch, requestId, values, workspaceId }) => {
        const checked = BodyValues.checked(values, (name) => known.get(`${workspaceId} ${name}`) !== false)
        return Effect.map(
          vault.seal(JSON.stringify(checked), requestId),
          (sealed) => ({ workspaceId, requestId, epoch, sealed })
        )
      })
      yield* store.keep(sealed, yield* Clock.currentTimeMillis)
    })

    return yield* Recorder.make<TakenValues>({ kind: "request_values", write, isRepeatable: true, size, capacity })
  })
)
