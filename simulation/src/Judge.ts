/**
 * Judges many seeds on all processors. A seed's run needs nothing of another's, so each worker thread takes the next seed
 * as soon as it is free.
 */
import * as NodeWorker from "@effect/platform-node/NodeWorker"
import { Effect, Layer, Schema, Stream } from "effect"
import { Rpc, RpcClient, type RpcClientError, RpcGroup } from "effect/rpc"
import { Worker } from "node:worker_threads"
import * as Plan from "./Plan.ts"
import * as Simulation from "./Simulation.ts"

/** What became of a seed's run. */
export class Judged extends Schema.Class<Judged>("Judged")({
  seed: Schema.Int,
  /** The entries of its history. */
  entries: Schema.Int,
  /** The virtual time that it took, in milliseconds. */
  millis: Schema.Int,
  /** Whether every promise was kept. */
  isKept: Schema.Boolean
}) {}

/** What a worker thread does. */
export const group = RpcGroup.make(Rpc.make("judge", { payload: { seed: Schema.Int }, success: Judged }))

/** Runs a seed in this thread. */
export const judge = (seed: number): Effect.Effect<Judged> =>
  Effect.map(
    Effect.promise(() => Simulation.run(Plan.make(seed))),
    ({ history, millis, verdict }) => new Judged({ seed, entries: history.entries.length, millis, isKept: verdict.ok })
  )

const threads = (size: number) =>
  RpcClient.layerProtocolWorker({ size }).pipe(
    Layer.provide(NodeWorker.layer(() => new Worker(new URL("./judgeWorker.ts", import.meta.url))))
  )

/** Judges seeds in their order. Fails if a thread ends. */
export const all = (
  seeds: ReadonlyArray<number>
): Stream.Stream<Judged, RpcClientError.RpcClientError> => {
  const size = Math.min(navigator.hardwareConcurrency, seeds.length)
  // a thread would have to load the service first
  if (size === 1) return Stream.mapEffect(Stream.fromIterable(seeds), judge)
  return Stream.unwrap(Effect.map(
    RpcClient.make(group),
    (client) =>
      Stream.mapEffect(Stream.fromIterable(seeds), (seed) => client.judge({ seed }), { concurrency: 2 * size })
  )).pipe(Stream.provide(Layer.orDie(threads(size))))
}
