/**
 * `InboundPostStore` in memory: each method is one synchronous step over `State`, decided by `InboundPostStep`.
 */
import { type InboundPost, InboundPostStep, InboundPostStore, StorageTime, type Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { type Memory, type PostRecord, State } from "../State.ts"

type Store = InboundPostStore.InboundPostStore["Service"]

const nameOf = ({ digest, provider }: InboundPost.PostName): string => `${provider} ${digest}`

const keep = (memory: Memory, { body, digest, now, provider }: Parameters<Store["keep"]>[0]): "kept" | "known" => {
  const name = nameOf({ provider, digest })
  if (memory.inboundPosts.has(name)) return "known"
  const post: PostRecord = {
    provider,
    digest,
    // copied, because the caller may reuse its buffer
    body: body.slice(),
    receivedAt: now,
    tries: 0,
    dueAt: now,
    token: null,
    problem: null,
    expiresAt: null
  }
  memory.inboundPosts.set(name, post)
  memory.waitingPosts.add(post)
  memory.inboundPostHint.notify()
  return "kept"
}

const claim = (
  memory: Memory,
  { leaseUntil, limit, now, provider, token }: Parameters<Store["claim"]>[0]
): ReadonlyArray<InboundPostStore.ClaimedPost> => {
  const due = [...memory.waitingPosts]
    .filter((post) => post.provider === provider && post.dueAt! <= now)
    // the sort is stable: posts of the same instant stay in the order of arrival
    .sort((a, b) => a.dueAt! - b.dueAt!)
  const claimed: Array<InboundPostStore.ClaimedPost> = []
  let bytes = 0
  for (const post of due) {
    if (claimed.length === limit.posts || bytes >= limit.bytes) break
    bytes += post.body.length
    post.dueAt = leaseUntil
    post.token = token
    const { body, digest, receivedAt, tries } = post
    claimed.push({ provider, digest, body, receivedAt, tries })
  }
  memory.inboundPostHint.claimed(claimed.length < due.length)
  return claimed
}

/** Ends a claim. Returns false, and changes nothing, if the claim was lost. */
const end = (
  memory: Memory,
  { now, token, ...name }: InboundPostStep.Complete,
  { dueIn, expires, isTry, problem }: InboundPostStep.Ended
): boolean => {
  const post = memory.inboundPosts.get(nameOf(name))
  if (post?.token !== token) return false
  const at = memory.now(now)
  post.token = null
  post.dueAt = dueIn === null ? null : at + dueIn
  if (problem !== undefined) post.problem = problem
  if (isTry) post.tries++
  if (expires !== undefined && !(expires.onlyIfNew && post.expiresAt !== null)) {
    post.expiresAt = at + expires.in
    memory.expiryHint.notify()
  }
  if (dueIn === null) memory.waitingPosts.delete(post)
  else memory.inboundPostHint.notify()
  return true
}

const retryUnreadable = (memory: Memory, provider: string, limit: number): number => {
  const unreadable = [...memory.inboundPosts.values()]
    .filter((post) => post.provider === provider && post.problem === "unreadable" && post.dueAt === null)
    .sort((a, b) => a.receivedAt - b.receivedAt)
    .slice(0, limit)
  for (const post of unreadable) {
    post.dueAt = post.receivedAt
    memory.waitingPosts.add(post)
  }
  if (unreadable.length > 0) memory.inboundPostHint.notify()
  return unreadable.length
}

const sweep = (memory: Memory, now: Time.Instant, limit: number): number => {
  let swept = 0
  for (const [name, post] of memory.inboundPosts) {
    if (swept === limit) break
    if (post.expiresAt === null || post.expiresAt > now) continue
    memory.inboundPosts.delete(name)
    memory.waitingPosts.delete(post)
    swept++
  }
  memory.expiryHint.claimed(swept === limit)
  return swept
}

const backlog = (memory: Memory): InboundPostStore.PostBacklog => {
  const posts = [...memory.inboundPosts.values()]
  const waiting = [...memory.waitingPosts]
  const counted = ({ length }: ReadonlyArray<PostRecord>) => Math.min(length, InboundPostStore.countedExactly)
  return {
    waiting: counted(waiting),
    oldestReceivedAt: waiting.reduce<Time.Instant | null>(
      (oldest, { receivedAt }) => oldest === null ? receivedAt : Math.min(oldest, receivedAt),
      null
    ),
    failing: counted(waiting.filter(({ problem }) => problem !== null)),
    unreadable: counted(posts.filter(({ dueAt, problem }) => dueAt === null && problem !== null))
  }
}

export const layer = Layer.effect(
  InboundPostStore.InboundPostStore,
  Effect.map(State, (memory) =>
    InboundPostStore.InboundPostStore.of({
      keep: (command) => Effect.sync(() => keep(memory, StorageTime.judgedAt(command, memory.now(command.now)))),
      claim: (command) =>
        Effect.sync(() => claim(memory, StorageTime.judgedAt(command, memory.now(command.now), "leaseUntil"))),
      complete: (command) => Effect.sync(() => end(memory, command, InboundPostStep.complete(command))),
      release: (command) => Effect.sync(() => end(memory, command, InboundPostStep.release(command))),
      retryUnreadable: (provider, limit) => Effect.sync(() => retryUnreadable(memory, provider, limit)),
      sweep: (now, limit) => Effect.sync(() => sweep(memory, memory.now(now), limit)),
      awaitHint: memory.inboundPostHint.wait,
      backlog: Effect.sync(() => backlog(memory))
    }))
)
