/**
 * What a worker thread of `Judge.ts` runs: for each seed that it gets, it simulates the run and returns whether every
 * promise held. One after the other, because a run takes the whole thread.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeWorkerRunner from "@effect/platform-node/NodeWorkerRunner"
import { Layer } from "effect"
import { RpcServer } from "effect/rpc"
import * as Judge from "./Judge.ts"

RpcServer.layer(Judge.group, { concurrency: 1 }).pipe(
  Layer.provide(Judge.group.toLayer({ judge: ({ seed }) => Judge.judge(seed) })),
  Layer.provide(RpcServer.layerProtocolWorkerRunner),
  Layer.provide(NodeWorkerRunner.layer),
  Layer.launch,
  NodeRuntime.runMain
)
