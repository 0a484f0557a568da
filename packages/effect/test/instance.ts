/**
 * In-memory instances with a fake clock for tests, and what tests often do with them.
 */
import { Polling, type Ports } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Context, Effect, Layer, Scope } from "effect"
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach } from "vitest"
import * as Adapter from "../src/Adapter.ts"
import {
  createWac,
  type CustomProvider,
  fakeClock,
  type LogEntry,
  memory,
  type NewMessage,
  sandbox,
  type Span,
  type Wac,
  WacError,
  type WacOptions
} from "../src/promises.ts"

const open: Array<() => Promise<unknown>> = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()))
})

/** Closes something after the test. */
export const closing = (close: () => Promise<unknown>): void => void open.push(close)

/** An instance in memory with its log and its clock. */
export const start = async (options: Partial<WacOptions> = {}) => {
  const clock = fakeClock()
  const log: Array<LogEntry> = []
  const wac = await createWac({
    storage: memory(),
    provider: sandbox(),
    clock,
    log: (entry) => void log.push(entry),
    ...options
  })
  closing(wac.close)
  return { wac, clock, log }
}

/** An instance with the machine's clock, for tests that use the network. */
export const startLive = async (options: Partial<WacOptions> = {}): Promise<Wac> => {
  const wac = await createWac({ storage: memory(), provider: sandbox(), ...options })
  closing(wac.close)
  return wac
}

/** A clock and a storage in memory, and the options with which instances share them. */
export const shared = (given: Partial<WacOptions> = {}) => {
  const clock = fakeClock()
  let built: Context.Context<Ports.Ports> | undefined
  /** Built by the first instance, on its clock. */
  const storage: Layer.Layer<Ports.Ports> = Layer.effectContext(Effect.suspend(() =>
    built === undefined
      ? Effect.map(Layer.buildWithScope(MemoryStorage.layer, Scope.makeUnsafe()), (ports) =>
        // each instance polls, since the others write too
        built = Context.add(ports, Polling.Polling, Polling.steady))
      : Effect.succeed(built)
  ))
  const options: Partial<WacOptions> = {
    clock,
    masterKey: new Uint8Array(32).fill(7),
    storage: Adapter.storage(storage),
    ...given
  }
  /** Works in an instance without background for a time that passes meanwhile. */
  const shift = async (wac: Wac, span: Span) => {
    const working = wac.work({ for: span })
    await clock.advance(span)
    await working
  }
  return { clock, options, shift, storage }
}

/** The list of a provider whose account has the template of {@link hello} alone. */
export const templates: NonNullable<CustomProvider["templates"]> = async () => [{
  providerTemplateId: "1",
  name: "hello_world",
  language: "en_US",
  category: "UTILITY",
  status: "APPROVED",
  components: [{ type: "BODY", text: "Hello" }]
}]

/** A send that the sandbox accepts. */
export const hello = (to = "+15551234567"): NewMessage => ({
  to,
  type: "template",
  template: { name: "hello_world", language: "en_US" }
})

let keys = 0

/** An idempotency key that no other send of the run has. */
export const fresh = () => ({ idempotencyKey: `key-${++keys}` })

/** The `WacError` that a promise rejects with. */
export const failure = async (promise: Promise<unknown>): Promise<WacError> => {
  const error = await promise.then(() => new Error("it did not reject"), (error: unknown) => error)
  if (error instanceof WacError) return error
  throw error
}

/** Starts a server on loopback for the rest of the test. Returns its address. */
export const serve = async (listener: RequestListener | Server): Promise<string> => {
  const server = typeof listener === "function" ? createServer(listener) : listener
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closing(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A request's whole body. */
export const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Waits until a condition holds, turn by turn of the event loop, up to the test's own timeout. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!await holds()) await new Promise((resolve) => setImmediate(resolve))
}
