/**
 * `ReplayStore` in PostgreSQL: combines the operations of this folder (`ReplayStep`) and adds the short statements.
 */
import { type Id, Page, ReplayStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import { Database } from "../Database.ts"
import { pages } from "../Pages.ts"
import { first, value } from "../Statement.ts"
import { select } from "../TableStatements.ts"
import * as ReplayStep from "./ReplayStep.ts"

const { replay } = ReplayStep

const get = select(replay, "wac.replays", replay.pick("workspaceId", "id"))

const list = pages({ workspaceId: value<Id.WorkspaceId>() }, ({ workspaceId }, { isAfter, limit }) => `
  select ${replay.names("r")} from wac.replays r
  where r.workspace_id = ${workspaceId} and ${isAfter("r.id")} order by r.id desc limit ${limit}`)

export const layer = Layer.effect(
  ReplayStore.ReplayStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const create = yield* stepped("ReplayStore.create", ReplayStep.create)
    const cancel = yield* stepped("ReplayStore.cancel", ReplayStep.cancel)
    const step = yield* stepped("ReplayStore.step", ReplayStep.step)

    return ReplayStore.ReplayStore.of({
      create: (command) => Effect.map(create(command), Option.fromUndefinedOr),
      get: (workspaceId, id) => Effect.map(query("ReplayStore.get", get({ workspaceId, id })), first(replay.read)),
      list: (workspaceId, page) =>
        Effect.map(
          query("ReplayStore.list", list({ workspaceId }, page)),
          (rows) => Page.fromOverread(rows.map(replay.read), page, ({ id }) => id)
        ),
      cancel: (workspaceId, id, now) => Effect.map(cancel({ workspaceId, id, now }), Option.fromUndefinedOr),
      step: (now, limit) => step({ now, limit, asked: callerNow(now) })
    })
  })
)
