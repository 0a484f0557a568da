/**
 * Lets wac's client use a host's own pool of the package `pg`: a connection is taken from the pool, used as a stream of
 * bytes, and returned as it was found. So the host's parsers and settings make no difference.
 */
import { Buffer } from "node:buffer"
import { Duplex } from "node:stream"

/** The part of a `pg.Pool` that is declared publicly; {@link wrongPool} checks the rest. */
export interface HostPool {
  readonly options: object
  readonly connect: () => Promise<object>
}

/** A client of `pg`, with the members that are used here. */
interface Client {
  readonly processID: number
  readonly secretKey: number
  /** Not public, but the same in all versions of `pg` since 7. */
  readonly connection: { readonly stream: Duplex }
  readonly on: (event: "error", listener: () => void) => unknown
  readonly off: (event: "error", listener: () => void) => unknown
  readonly release: (isBroken?: boolean) => void
  readonly connect: () => Promise<unknown>
  readonly end: () => Promise<unknown>
  readonly cancel: (of: object, query: object) => void
}

interface Pool {
  readonly options: { readonly max?: number; readonly min?: number }
  readonly Client: new(options: object) => Client
  readonly connect: () => Promise<Client>
}

const isClient = (client: object): client is Client =>
  "connection" in client && typeof client.connection === "object" && client.connection !== null &&
  "stream" in client.connection && client.connection.stream instanceof Duplex

/** The fewest connections that the pool must have: one for steps, one for single statements, and one for the host. */
export const fewest = 3

/** The maximum number of a pool's connections. */
export const sizeOf = ({ options }: HostPool): number => (options as Pool["options"]).max ?? 10

/** Describes why a value cannot be used as a pool; `undefined` if it can. */
export const wrongPool = (pool: unknown): string | undefined => {
  if (
    typeof pool !== "object" || pool === null || !("connect" in pool) || typeof pool.connect !== "function" ||
    !("options" in pool) || typeof pool.options !== "object" || pool.options === null ||
    !("Client" in pool) || typeof pool.Client !== "function"
  ) return "must be a Pool of the package pg"
  const size = sizeOf(pool as HostPool & object)
  return size < fewest ? `must have a max of at least ${fewest}, and has ${size}` : undefined
}

/** The message that ends a session. */
const terminate = 0x58
const sync = 0x53
const query = 0x51
const ready = 0x5a
const idle = 0x49
const cancelRequest = 80877102

/** Splits chunks of a stream into messages, and calls `see` with the type of each and the first byte of its content. */
const messages = (see: (type: number, first: number) => void): (chunk: Uint8Array) => void => {
  let rest = Buffer.alloc(0)
  let skipped = 0
  return (chunk) => {
    const data = rest.length === 0
      ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      : Buffer.concat([rest, chunk])
    rest = Buffer.alloc(0)
    let at = 0
    while (true) {
      const passed = Math.min(skipped, data.length - at)
      at += passed
      skipped -= passed
      const left = data.length - at
      if (left === 0) return
      if (left < 5 || left < 6 && data[at] === ready) {
        rest = Buffer.from(data.subarray(at))
        return
      }
      see(data[at]!, data[at + 5] ?? 0)
      skipped = 1 + data.readInt32BE(at + 1)
    }
  }
}

/** The messages with which a server accepts a client: authentication succeeded, the session's process id, ready. */
const greeting = (processId: number): Buffer => {
  const bytes = Buffer.from("R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\0\0\0\0\0Z\0\0\0\x05I", "latin1")
  bytes.writeInt32BE(processId, 14)
  return bytes
}

const ignore = () => undefined

/** A connection borrowed from the host's pool. */
interface Lease {
  readonly client: Client
  /** Returns the connection to the pool, which closes it if `isAsFound` is false. */
  readonly end: (isAsFound: boolean) => void
}

interface Source {
  readonly take: () => Promise<Lease>
  /**
   * Cancels the statement of a session. The connection is closed afterwards instead of reused, since the cancellation
   * may arrive late.
   */
  readonly cancel: (processId: number) => void
  readonly inUse: Map<number, Borrowed>
}

class Borrowed extends Duplex {
  readonly #source: Source
  #lease: Lease | undefined
  #isStarted = false
  #unanswered = 0
  #isIdle = true
  isCancelled = false
  readonly #data = (chunk: Buffer) => {
    this.#received(chunk)
    if (!this.push(chunk)) this.#lease?.client.connection.stream.pause()
  }
  readonly #error = (error: Error) => this.destroy(error)
  readonly #close = () => this.destroy()
  #theirs: ReadonlyArray<(chunk: Buffer) => void> = []
  readonly #received = messages((type, first) => {
    if (type !== ready) return
    this.#unanswered--
    this.#isIdle = first === idle
  })
  readonly #sent = messages((type) => {
    if (type === sync || type === query) this.#unanswered++
  })

  constructor(source: Source) {
    super({ allowHalfOpen: false })
    this.#source = source
  }

  get client(): Client | undefined {
    return this.#lease?.client
  }

  #start(first: Buffer): void {
    this.#isStarted = true
    if (first.readInt32BE(4) === cancelRequest) {
      this.#source.cancel(first.readInt32BE(8))
      this.destroy()
      return
    }
    this.#source.take().then((lease) => {
      if (this.destroyed) return lease.end(true)
      this.#lease = lease
      const { client } = lease
      const { stream } = client.connection
      this.#source.inUse.set(client.processID, this)
      client.on("error", ignore)
      this.#theirs = stream.listeners("data") as Array<unknown> as Array<(chunk: Buffer) => void>
      stream.on("data", this.#data).on("error", this.#error).on("close", this.#close)
      for (const listener of this.#theirs) stream.off("data", listener)
      this.push(greeting(client.processID))
    }, (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))))
  }

  #give(): void {
    const lease = this.#lease
    if (lease === undefined) return
    this.#lease = undefined
    const { client } = lease
    const { stream } = client.connection
    const isAsFound = !this.isCancelled && this.#unanswered === 0 && this.#isIdle && stream.writable
    // the client knows nothing of the answers that are still to come, and would report each as an error of the pool
    if (isAsFound) { for (const listener of this.#theirs) stream.on("data", listener) }
    stream.off("data", this.#data).off("error", this.#error).off("close", this.#close)
    stream.resume()
    this.#source.inUse.delete(client.processID)
    lease.end(isAsFound)
    client.off("error", ignore)
  }

  override _read(): void {
    this.#lease?.client.connection.stream.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (!this.#isStarted) {
      this.#start(chunk)
      return done()
    }
    const stream = this.#lease?.client.connection.stream
    if (stream === undefined || chunk[0] === terminate && chunk.length === 5) return done()
    this.#sent(chunk)
    stream.write(chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#give()
    this.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#give()
    done(error)
  }
}

/**
 * Makes streams over the pool's connections (`pooled`), and over separate connections made from the pool's options
 * (`own`).
 */
export interface Streams {
  readonly pooled: () => Duplex
  readonly own: () => Duplex
}

/** The pool's clients have no stream that could be used, as with `pg.native`. Retrying cannot help. */
export class NotOfPg extends Error {
  constructor() {
    super("the pool's clients are not of the package pg: a pool of pg.native cannot be used")
  }
}

/** Makes streams over clients of the pool. A client is returned when its stream ends; the pool is never closed. */
export const streams = (given: HostPool): Streams => {
  const pool = given as HostPool & Pool
  const inUse = new Map<number, Borrowed>()
  const cancel = (processId: number) => {
    const borrowed = inUse.get(processId)
    const client = borrowed?.client
    if (borrowed === undefined || client === undefined) return
    borrowed.isCancelled = true
    const canceller = new pool.Client(pool.options)
    canceller.on("error", ignore)
    const asked = {}
    canceller.cancel({ activeQuery: asked, processID: client.processID, secretKey: client.secretKey }, asked)
  }
  const of = (take: () => Promise<Lease>) => () => new Borrowed({ take, cancel, inUse })
  return {
    pooled: of(async () => {
      const client = await pool.connect()
      if (!isClient(client)) {
        ;(client as { release: () => void }).release()
        throw new NotOfPg()
      }
      return { client, end: (isAsFound) => client.release(!isAsFound) }
    }),
    own: of(async () => {
      const client = new pool.Client(pool.options)
      client.on("error", ignore)
      await client.connect()
      if (!isClient(client)) {
        await (client as Client).end()
        throw new NotOfPg()
      }
      return {
        client,
        end: () => {
          client.on("error", ignore)
          client.connection.stream.destroy()
        }
      }
    })
  }
}
