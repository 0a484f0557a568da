/**
 * The record of a request (contract §12 *Requests*, §17): its route's template, its result, its duration, what it was
 * about and the shape of its body, but never a value of a body or a header. While the workspace's owner has switched
 * that on, the values in the bodies of API keys' requests are recorded separately.
 */
import { BodyNames } from "@wac/api"
import { ApiRequest, BodyShape, BodyValues, Errors, type RequestValuesRecorder, ValuesSwitch } from "@wac/core"
import type { Exchange } from "../Exchange.ts"
import type { Line } from "../RequestLog.ts"

/** The largest body that is described: nearly all are a few hundred bytes, and a batch is like its first message. */
const maxBytes = 64 * 1024

/** Who made a request, and in which workspace; `undefined` if that is not known. */
const callerOf = ({ actors, caller }: Exchange): Pick<ApiRequest.ApiRequest, "caller" | "workspaceId"> | undefined => {
  if (caller !== undefined) {
    return { workspaceId: caller.workspace.id, caller: { apiKeyId: caller.key.id, userId: null } }
  }
  const [actor] = actors
  return actor !== undefined && "userId" in actor
    ? { workspaceId: actor.workspaceId, caller: { apiKeyId: null, userId: actor.userId } }
    : undefined
}

const utf8 = new TextDecoder()

/** The body's JSON; `null` if the body is empty, too large to be described, or not JSON. */
const jsonOf = (body: Uint8Array | undefined): { readonly json: unknown } | null => {
  if (body === undefined || body.length === 0 || body.length > maxBytes) return null
  try {
    // the framework does not keep the parsed body; parsing it again costs a microsecond
    return { json: JSON.parse(utf8.decode(body)) }
  } catch {
    return null
  }
}

/** The functions that store records of requests and the values of their bodies. */
export interface Recorders {
  readonly record: (request: ApiRequest.ApiRequest) => void
  readonly keepValues: (values: RequestValuesRecorder.TakenValues) => void
}

/** Returns the function that records a completed request, unless its caller, and so its workspace, is unknown. */
export const make =
  ({ keepValues, record }: Recorders) => (line: Line & { readonly at: number; readonly url: string }): void => {
    const { durationMs, exchange, method, route, status, url } = line
    const { body, changed, error, ownId } = exchange
    const caller = callerOf(exchange)
    const code = error?.code ?? null
    if (caller === undefined || !ApiRequest.isRecorded({ ...caller, code, method })) return
    // a person's body may be a password, of which not even the length is kept
    const read = caller.caller.userId === null ? jsonOf(body) : null
    record({
      id: ownId,
      ...caller,
      method,
      route,
      status,
      code,
      reason: (error && Errors.reasonOf(error)) ?? null,
      at: line.at,
      durationMs,
      fields: read && BodyShape.of(read.json, BodyNames.find()),
      // a refused request may name a resource of another workspace, and so may one whose caller left too early to tell
      subject: error === undefined
        ? ApiRequest.subjectOf(changed.target, ...(status === ApiRequest.left ? [] : url.split(/[/?]/)))
        : null
    })
    const kept = exchange.caller?.valuesSwitch ?? null
    if (read === null || !ValuesSwitch.isOn(kept, line.at)) return
    const values = BodyValues.of(read.json, BodyNames.find())
    keepValues({ workspaceId: caller.workspaceId, requestId: ownId, epoch: kept.epoch, values })
  }
