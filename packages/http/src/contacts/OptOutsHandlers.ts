/**
 * `/v1/contacts/{name}/opt-out`, `/internal/suppressions` and `/internal/settings/opt-out`.
 */
import { Api, Caller } from "@wac/api"
import { type Contact, type ContactStore, Errors, OptOuts, OptOutWords, StoreError, Time } from "@wac/core"
import { Effect, Layer, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as CsvTable from "../bodies/CsvTable.ts"
import * as PacedBody from "../bodies/PacedBody.ts"
import type { FileType } from "../bodies/RecordFile.ts"
import * as RequestBody from "../bodies/RequestBody.ts"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as NameFile from "./NameFile.ts"

const exported = ({ at, name, phoneNumberId, source }: ContactStore.OptOut) => ({
  name,
  phoneNumberId,
  optedOutAt: Time.iso(at),
  source
})

/** The workspace's words as the dashboard shows them. */
const settingsOf = (words: OptOutWords.Settings) => ({ ...words, defaults: OptOutWords.defaults })

/** The export as JSON, written while the opt-outs are read. `others` counts opt-outs whose names were erased. */
const jsonOf = <E>(others: number, pieces: Stream.Stream<ReadonlyArray<ContactStore.OptOut>, E>) => {
  let isFirst = true
  const names = Stream.map(pieces, (piece) =>
    piece.map((one) => {
      const comma = isFirst ? "" : ","
      isFirst = false
      return comma + JSON.stringify(exported(one))
    }).join(""))
  return HttpServerResponse.stream(
    Stream.encodeText(
      Stream.concat(Stream.concat(Stream.make(`{"others":${others},"names":[`), names), Stream.make("]}"))
    ),
    { contentType: "application/json" }
  )
}

const table = CsvTable.of(["name", "phoneNumberId", "optedOutAt", "source"])

const csvOf = <E>(pieces: Stream.Stream<ReadonlyArray<ContactStore.OptOut>, E>) =>
  HttpServerResponse.stream(
    Stream.encodeText(
      Stream.concat(Stream.make(table.header), Stream.map(pieces, (piece) => table.lines(piece.map(exported))))
    ),
    {
      contentType: "text/csv; charset=utf-8",
      headers: { "content-disposition": "attachment; filename=\"opt-outs.csv\"" }
    }
  )

/** The error of a choice, in which `param` is the name of the field in the body. */
const onWire = (error: Errors.InvalidBody | StoreError.StoreError) =>
  error._tag === "InvalidBody" && error.param === "phoneNumberId"
    ? new Errors.InvalidBody({ reason: error.reason, param: "phone_number_id", message: error.message })
    : error

const programs = HandlerGroup.layer(
  Effect.gen(function*() {
    const optOuts = yield* OptOuts.OptOuts
    const choose = (preference: Contact.Preference) =>
      Effect.fnUntraced(
        function*({ params: { name }, payload }: {
          readonly params: { readonly name: string }
          readonly payload: { readonly phone_number_id?: string }
        }) {
          const { workspace } = yield* Caller.Caller
          const chosen = yield* optOuts.choose(workspace.id, {
            name,
            preference,
            source: "api",
            ...(payload.phone_number_id === undefined ? {} : { phoneNumberId: payload.phone_number_id })
          }).pipe(Effect.mapError(onWire))
          return {
            contact: name,
            opted_out: chosen.optedOut,
            opted_out_at: Time.isoOrNull(chosen.at),
            source: chosen.source
          }
        },
        StoreError.orUnavailable
      )
    return HttpApiBuilder.group(
      Api,
      "optOuts",
      (handlers) => handlers.handleAll({ set: choose("opt_out"), end: choose("opt_in") })
    )
  })
)

const people = HandlerGroup.layer(
  Effect.gen(function*() {
    const optOuts = yield* OptOuts.OptOuts
    return HttpApiBuilder.group(Api, "suppressions", (handlers) =>
      handlers.handleAll({
        words: Effect.fnUntraced(function*() {
          const { workspaceId } = yield* Caller.CurrentSession
          return settingsOf(yield* optOuts.words(workspaceId))
        }, StoreError.orUnavailable),
        setWords: Effect.fnUntraced(function*({ payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return settingsOf(yield* optOuts.configure(workspaceId, payload))
        }, StoreError.orUnavailable),
        export: Effect.fnUntraced(function*({ request }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const pieces = optOuts.export(workspaceId)
          return request.headers["accept"]?.toLowerCase().includes("text/csv") === true
            ? csvOf(pieces)
            : jsonOf(yield* optOuts.countErased(workspaceId), pieces)
        }, StoreError.orUnavailable),
        import: Effect.fnUntraced(function*({ request }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const type = RequestBody.essenceOf(request.headers["content-type"]) as FileType
          const lines = NameFile.lines(PacedBody.read(request), type)
          const exchange = yield* Exchange
          const onEnd = ({ added, already, refused }: OptOuts.Imported) => {
            const detail = { added: `${added}`, already: `${already}`, refused: `${refused.length}` }
            exchange.changed = { detail }
            // names before the failure stay opted out
            if (added > 0) exchange.changedAnyway = { detail: { ...detail, outcome: "incomplete" } }
          }
          return yield* PacedBody.inTime(optOuts.import(workspaceId, lines, onEnd))
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.merge(programs, people)
