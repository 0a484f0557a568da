/**
 * Measures how long sends wait for PostgreSQL: from writing a statement to the socket until its answer is read,
 * including the network, the parsing and the commit. It hooks into the sockets, so the client's own time is not
 * counted.
 */
import { Effect } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Child } from "./Child.ts"
import { median } from "./Statistics.ts"

/** Asks a process to start measuring the waits of its requests, or to stop and return their median (ms). */
export interface Watch {
  readonly watch: boolean
}

export interface Watcher {
  /** Marks the start and the end of a send. Only one send may run at a time. */
  readonly begin: () => void
  readonly end: () => void
  /** The median (ms) that sends waited, of those that began and ended since the previous call. */
  readonly waited: () => number
  /** Treats each request to an HTTP server of this process as a send, and answers {@link Watch}. */
  readonly answer: (question: Watch) => number
}

/** Must be called before the process connects to this database. */
export const watcher = (databaseUrl: string): Watcher => {
  const port = Number(new URL(databaseUrl).port || "5432")
  /** How long the current send has waited so far. */
  let waited: number | undefined
  let waits: Array<number> = []

  const follow = (socket: Socket) => {
    let writtenAt: number | undefined
    const write = socket.write
    socket.write = ((...args: Parameters<typeof write>) => {
      if (waited !== undefined) writtenAt ??= performance.now()
      return write.apply(socket, args)
    }) as typeof write
    // the whole answer to one send arrives in one chunk
    socket.prependListener("data", () => {
      if (writtenAt !== undefined && waited !== undefined) waited += performance.now() - writtenAt
      writtenAt = undefined
    })
  }
  subscribe("net.client.socket", (opened) => {
    const { socket } = opened as { readonly socket: Socket }
    // not earlier, because connecting restores the socket's own `write`
    socket.once("connect", () => {
      if (socket.remotePort === port) follow(socket)
    })
  })

  const begin = () => {
    waited = 0
  }
  const end = () => {
    if (waited !== undefined) waits.push(waited)
    waited = undefined
  }
  const take = () => {
    const taken = median(waits)
    waits = []
    return taken
  }
  return {
    begin,
    end,
    waited: take,
    answer: ({ watch }) => {
      const change = watch ? subscribe : unsubscribe
      change("http.server.request.start", begin)
      change("http.server.response.finish", end)
      return take()
    }
  }
}

/** Runs sends one after the other. Returns their result and the median (ms) that each waited. */
export type Watched = <A>(
  sends: Effect.Effect<A, BenchFailed>
) => Effect.Effect<{ readonly sends: A; readonly waited: number }, BenchFailed>

/** Measures sends to a child process that answers {@link Watch}. */
export const watched = <Ready>({ ask }: Child<Ready>): Watched => (sends) =>
  Effect.gen(function*() {
    yield* ask({ watch: true } satisfies Watch)
    const done = yield* sends
    return { sends: done, waited: yield* ask<number>({ watch: false } satisfies Watch) }
  })
