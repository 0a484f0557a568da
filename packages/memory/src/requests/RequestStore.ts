/**
 * `RequestStore` in memory: each method is one synchronous step over `State`.
 */
import { ApiRequest, Id, RequestStore, type Retention, type Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { type Memory, State } from "../State.ts"

const record = (memory: Memory, requests: ReadonlyArray<ApiRequest.ApiRequest>): void => {
  for (const request of requests) {
    if (memory.requests.get(request.id) !== undefined) continue
    memory.requests.set(request)
    const { at, caller: { apiKeyId }, code, reason, workspaceId } = request
    if (apiKeyId === null) continue
    const hour = ApiRequest.hourOf(at)
    const name = `${workspaceId} ${hour} ${apiKeyId} ${code} ${reason}`
    const known = memory.requestTallies.get(name)
    memory.requestTallies.set(name, {
      workspaceId,
      hour,
      apiKeyId,
      code,
      reason,
      count: (known?.count ?? 0) + 1,
      lastAt: Math.max(at, known?.lastAt ?? at)
    })
  }
}

const tallies = (memory: Memory, workspaceId: Id.WorkspaceId, since: Time.Instant): ReadonlyArray<ApiRequest.Tally> => {
  const from = ApiRequest.hourOf(since)
  const all = new Map<string, ApiRequest.Tally>()
  for (const { hour, workspaceId: own, ...tally } of memory.requestTallies.values()) {
    if (own !== workspaceId || hour < from) continue
    const name = `${tally.apiKeyId} ${tally.code} ${tally.reason}`
    const known = all.get(name) ?? { count: 0, lastAt: 0 }
    all.set(name, { ...tally, count: known.count + tally.count, lastAt: Math.max(known.lastAt, tally.lastAt) })
  }
  return [...all.values()]
}

const forget = (memory: Memory, before: Time.Instant): Retention.Forgotten => {
  const lowest = Id.lowestAt("req", before)
  const removed = memory.requests.forget(({ id }) => id < lowest)
  const hour = ApiRequest.hourOf(before)
  for (const [name, tally] of memory.requestTallies) if (tally.hour < hour) memory.requestTallies.delete(name)
  return { removed, isMore: false }
}

export const layer = Layer.effect(
  RequestStore.RequestStore,
  Effect.map(State, (memory) =>
    RequestStore.RequestStore.of({
      record: (requests) => Effect.sync(() => record(memory, requests)),
      list: (workspaceId, filter, page) =>
        Effect.sync(() => memory.requests.page(workspaceId, page, (request) => RequestStore.isOf(filter, request))),
      tallies: (workspaceId, since) => Effect.sync(() => tallies(memory, workspaceId, since)),
      forget: (before) => Effect.sync(() => forget(memory, before))
    }))
)
