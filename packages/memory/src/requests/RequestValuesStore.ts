/**
 * `RequestValuesStore` in memory: each method is one synchronous step over `State`.
 */
import { Id, RequestValuesStore, type Retention, type Time, ValuesSwitch } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"

const epochOf = (memory: Memory, workspaceId: Id.WorkspaceId): number =>
  memory.valuesSwitches.get(workspaceId)?.epoch ?? 0

/** The workspace's switch; `null` if it was never turned on, or is turned off. */
export const switchOf = (memory: Memory, workspaceId: Id.WorkspaceId): ValuesSwitch.ValuesSwitch | null => {
  const { epoch, until } = memory.valuesSwitches.get(workspaceId) ?? { epoch: 0, until: null }
  return until === null ? null : { epoch, until }
}

const isOutdated = (memory: Memory, { epoch, workspaceId }: RequestValuesStore.SealedValues): boolean =>
  epoch < epochOf(memory, workspaceId)

const switchOn = (memory: Memory, workspaceId: Id.WorkspaceId, asked: Time.Instant): Time.Instant => {
  const until = memory.now(asked) + Duration.toMillis(ValuesSwitch.lasts)
  memory.valuesSwitches.set(workspaceId, { until, epoch: epochOf(memory, workspaceId) })
  return until
}

const until = (memory: Memory, workspaceId: Id.WorkspaceId, asked: Time.Instant): Time.Instant | null => {
  const found = switchOf(memory, workspaceId)
  return ValuesSwitch.isOn(found, memory.now(asked)) ? found.until : null
}

/** Begins a new epoch, which makes the values kept so far outdated. A workspace without a switch has kept none. */
const outdate = (memory: Memory, workspaceId: Id.WorkspaceId, change: { readonly until?: null }): void => {
  const found = memory.valuesSwitches.get(workspaceId)
  if (found !== undefined) memory.valuesSwitches.set(workspaceId, { ...found, ...change, epoch: found.epoch + 1 })
}

const keep = (
  memory: Memory,
  values: ReadonlyArray<RequestValuesStore.SealedValues>,
  asked: Time.Instant
): void => {
  for (const one of values) {
    const { epoch, requestId, workspaceId } = one
    const isWanted = until(memory, workspaceId, asked) !== null && epoch === epochOf(memory, workspaceId)
    if (isWanted && !memory.requestValues.has(requestId)) memory.requestValues.set(requestId, one)
  }
}

const find = (memory: Memory, workspaceId: Id.WorkspaceId, requestId: Id.RequestId) => {
  const found = memory.requestValues.get(requestId)
  return found?.workspaceId === workspaceId && !isOutdated(memory, found) ? found.sealed : undefined
}

const remove = (
  memory: Memory,
  isGone: (values: RequestValuesStore.SealedValues) => boolean
): Retention.Forgotten => {
  const before = memory.requestValues.size
  for (const one of memory.requestValues.values()) if (isGone(one)) memory.requestValues.delete(one.requestId)
  return { removed: before - memory.requestValues.size, isMore: false }
}

export const layer = Layer.effect(
  RequestValuesStore.RequestValuesStore,
  Effect.map(State, (memory) =>
    RequestValuesStore.RequestValuesStore.of({
      until: (workspaceId, now) => Effect.sync(() => until(memory, workspaceId, now)),
      switchOn: (workspaceId, now) => Effect.sync(() => switchOn(memory, workspaceId, now)),
      switchOff: (workspaceId) => Effect.sync(() => outdate(memory, workspaceId, { until: null })),
      outdate: (workspaceId) => Effect.sync(() => outdate(memory, workspaceId, {})),
      removeOutdated: (workspaceId) =>
        Effect.sync(() => remove(memory, (one) => one.workspaceId === workspaceId && isOutdated(memory, one))),
      keep: (values, now) => Effect.sync(() => keep(memory, values, now)),
      find: (workspaceId, requestId) => Effect.sync(() => Option.fromUndefinedOr(find(memory, workspaceId, requestId))),
      forget: (before) =>
        Effect.sync(() => {
          const lowest = Id.lowestAt("req", before)
          return remove(memory, (one) => one.requestId < lowest || isOutdated(memory, one))
        })
    }))
)
