/**
 * A worker thread of `Judge.ts`: judges one seed after the other.
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
