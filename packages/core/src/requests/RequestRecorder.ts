/**
 * Records API requests in the background, so that no response waits for it. Writes batches through `RequestStore`.
 */
import { Context, Effect, Layer } from "effect"
import { ChangeRecorder } from "../changes/ChangeRecorder.ts"
import * as Recorder from "../Recorder.ts"
import type { ApiRequest } from "./ApiRequest.ts"
import { RequestStore } from "./RequestStore.ts"

/** The maximum number of requests in one statement. */
const size = 500

/** Records a request. By default it does nothing. */
export const RequestRecorder = Context.Reference<(request: ApiRequest) => void>(
  "@wac/core/requests/RequestRecorder",
  { defaultValue: () => () => {} }
)

/** Makes the recorder write to the storage, as long as the layer's scope is open. */
export const layer: Layer.Layer<never, never, RequestStore> = Layer.effect(
  RequestRecorder,
  Effect.gen(function*() {
    const store = yield* RequestStore
    const tell = yield* ChangeRecorder
    const record = yield* Recorder.make<ApiRequest>({
      kind: "requests",
      write: store.record,
      isRepeatable: true,
      size
    })
    return (request) => {
      record(request)
      tell({ workspaceId: request.workspaceId, topic: "requests" })
    }
  })
)
