/**
 * `ReplayStore` in PostgreSQL: combines the operations of this folder (`ReplayStep`) and adds the short statements.
 */
import { Page, ReplayStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import { Database } from "../Database.ts"
import * as ReplayStep from "./ReplayStep.ts"

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
      get: (workspaceId, id) =>
        Effect.map(
          query(
            "ReplayStore.get",
            `select ${ReplayStep.replay.names("r")} from replays r where r.workspace_id = $1 and r.id = $2`,
            [workspaceId, id]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), ReplayStep.replay.read)
        ),
      list: (workspaceId, page) =>
        Effect.map(
          query(
            "ReplayStore.list",
            `select ${ReplayStep.replay.names("r")} from replays r
            where r.workspace_id = $1${page.after === null ? "" : " and r.id < $3"}
            order by r.id desc limit $2`,
            [workspaceId, page.limit + 1, ...page.after === null ? [] : [page.after]]
          ),
          (rows) => Page.fromOverread(rows.map(ReplayStep.replay.read), page, ({ id }) => id)
        ),
      cancel: (workspaceId, id, now) => Effect.map(cancel({ workspaceId, id, now }), Option.fromUndefinedOr),
      step: (now, limit) => step({ now, limit, asked: callerNow(now) })
    })
  })
)
