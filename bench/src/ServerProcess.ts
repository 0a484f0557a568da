/**
 * Our server as `npm start` runs it, in a child process.
 */
import "../../apps/server/src/YoungObjects.ts"
import { Context, Effect, Layer, ManagedRuntime } from "effect"
import { HttpServer } from "effect/http"
import * as Heap from "../../apps/server/src/Heap.ts"
import { run } from "../../apps/server/src/Run.ts"
import * as Child from "./Child.ts"

Heap.bounded()

Child.serve<{ readonly [variable: string]: string }, never>(async (environment) => {
  const server = Layer.effectContext(Effect.map(run(environment), ({ services }) => services))
  const services = await ManagedRuntime.make(server).context()
  return { ready: { url: HttpServer.formatAddress(Context.get(services, HttpServer.HttpServer).address) } }
})
