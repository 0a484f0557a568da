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
  /** Each ends the round trip that is under way on a socket. */
  const closers = new Set<() => void>()

  const follow = (socket: Socket) => {
    /** Of the round trip under way: its first write and the latest part of its answer. */
    let writtenAt: number | undefined
    let readAt: number | undefined
    const close = () => {
      if (waited !== undefined && writtenAt !== undefined && readAt !== undefined) waited += readAt - writtenAt
      writtenAt = undefined
      readAt = undefined
    }
    const write = socket.write
    socket.write = ((...args: Parameters<typeof write>) => {
      // pipelined statements are written in parts and answered in parts: what is written after an answer begins anew
      if (readAt !== undefined) close()
      if (waited !== undefined) writtenAt ??= performance.now()
      return write.apply(socket, args)
    }) as typeof write
    socket.prependListener("data", () => {
      if (writtenAt !== undefined) readAt = performance.now()
    })
    closers.add(close)
    socket.once("close", () => closers.delete(close))
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
    for (const close of closers) close()
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
