/** Handles a call of the simulated Cloud API: chooses its fault, makes its response, and logs it. */
import { Clock, Effect } from "effect"
import * as Graph from "./CloudApiGraph.ts"
import type { Incoming, Outgoing } from "./CloudApiServer.ts"
import type { Dice } from "./control/CloudApiDice.ts"
import * as Faults from "./control/CloudApiFaults.ts"
import type { Log } from "./control/CloudApiLog.ts"
import * as Media from "./media/CloudApiMedia.ts"
import * as Recipient from "./messages/CloudApiRecipient.ts"
import type { Customers } from "./numbers/CloudApiCustomers.ts"

export interface Calls {
  readonly handle: (call: Incoming) => Effect.Effect<Outgoing>
  /** Whether the connection of a call must break before its body is read. */
  readonly breaksUnread: (method: string, target: string) => boolean
}

/** The fields of a send that can be read even if it is invalid. */
const looseSend = (body: string): { readonly to: string | undefined; readonly reference: string | undefined } => {
  try {
    const json = JSON.parse(body) as Record<string, unknown> | null
    const text = (value: unknown) => typeof value === "string" ? value : undefined
    return { to: text(json?.to) ?? text(json?.recipient), reference: text(json?.biz_opaque_callback_data) }
  } catch {
    return { to: undefined, reference: undefined }
  }
}

/** The default delay of `late`, in milliseconds: longer than the service waits for its provider. */
const defaultLate = 10_000

export const make = (grounds: {
  readonly graph: Graph.Graph
  readonly faults: Faults.Faults
  readonly customers: Customers
  readonly log: Log
  readonly dice: Dice
}): Calls => {
  const { customers, dice, faults, graph, log } = grounds
  let answered = 0

  const handle = (call: Incoming): Effect.Effect<Outgoing> =>
    Effect.gen(function*() {
      const came = yield* Clock.currentTimeMillis
      const route = Graph.routeOf(call.method, call.target)
      const kind = route?.kind ?? "reads"
      const isUpload = route?.method === "POST" && route.edge === "media"
      const isFile = isUpload || route?.id.startsWith("upload:") === true
      const body = isFile ? `${call.body.length} bytes` : call.body.toString()
      const form = isUpload
        ? yield* Effect.promise(() => Media.formOf(String(call.headers["content-type"]), call.body))
        : undefined
      const { reference, to } = kind === "messages" ? looseSend(body) : { reference: undefined, to: undefined }
      const traceId = `A${dice.hex(22, "trace", answered++)}`
      const nth = reference === undefined ? answered : log.arrives(reference)
      const recipient = to === undefined ? undefined : Recipient.keyOf(to)
      const fault = faults.next({ kind, recipient, name: [reference ?? "", nth] })
        ?? (recipient === undefined ? undefined : customers.behaviourOf(recipient).fault)
      const { authorization } = call.headers
      if (fault?.kind === "late") yield* Effect.sleep(fault.after ?? defaultLate)
      const at = yield* Clock.currentTimeMillis

      const answer: Graph.Answer | undefined = fault === undefined || Faults.processes(fault.kind)
        ? Graph.answer(
          graph,
          route,
          {
            ...call,
            body,
            form,
            length: call.body.length,
            offset: String(call.headers["file_offset"]),
            authorization: typeof authorization === "string" ? authorization : undefined
          },
          at,
          nth,
          traceId
        )
        : fault.kind === "error"
        ? Graph.refuseWith(fault, traceId)
        : undefined
      log.call({
        at: came,
        method: call.method,
        path: call.target,
        body,
        to,
        reference,
        fault: fault?.kind,
        processed: answer?.accepted !== undefined,
        wamid: answer?.accepted?.wamid,
        http: answer?.http ?? null,
        code: answer?.code ?? null
      })
      if (answer?.accepted !== undefined) yield* graph.messages.live(answer.accepted)
      return {
        http: answer?.http ?? 500,
        headers: {
          ...(answer?.file === undefined ? {} : { "content-type": answer.file.type }),
          "facebook-api-version": route?.version ?? "v25.0",
          "x-fb-request-id": traceId,
          "x-fb-trace-id": traceId,
          "x-app-usage": JSON.stringify({ call_count: 0, total_cputime: 0, total_time: 0 }),
          "x-business-use-case-usage": JSON.stringify({
            [graph.account]: [{
              type: "whatsapp",
              call_count: fault?.regain === undefined ? 1 : 100,
              total_cputime: 1,
              total_time: 1,
              estimated_time_to_regain_access: fault?.regain ?? 0
            }]
          })
        },
        body: answer?.file?.bytes ?? JSON.stringify(answer?.body ?? null),
        fault
      }
    })

  return {
    handle,
    breaksUnread: (method, target) => {
      const route = Graph.routeOf(method, target)
      return route !== undefined && faults.breaksUnread(route.kind)
    }
  }
}
