import { Page, Replay, ReplayStore } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import { asked } from "../Asked.ts"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"
import type { Row } from "../Statement.ts"

const replayOf = (row: Row | undefined): Option.Option<Replay.Replay> =>
  Option.fromNullOr(row === undefined ? null : plain<Replay.Replay | null>(row, "replay"))

export const layer = Layer.effect(
  ReplayStore.ReplayStore,
  Effect.map(Effect.all([Database, asked]), ([{ query }, askedAt]) =>
    ReplayStore.ReplayStore.of({
      create: ({ now, until, ...command }) =>
        Effect.map(
          query("ReplayStore.create", "select wac_create_replay($1::text::json) as replay", [
            JSON.stringify({
              ...command,
              now: askedAt(now),
              until: until < now ? until : askedAt(now),
              counted: Replay.countedAtOnce
            })
          ]),
          ([row]) => replayOf(row)
        ),
      get: (workspaceId, id) =>
        Effect.map(
          query(
            "ReplayStore.get",
            "select wac_replay(r) as replay from replays r where r.workspace_id = $1 and r.id = $2",
            [workspaceId, id]
          ),
          ([row]) => replayOf(row)
        ),
      list: (workspaceId, page) =>
        Effect.map(
          query(
            "ReplayStore.list",
            `select wac_replay(r) as replay from replays r
            where r.workspace_id = $1${page.after === null ? "" : " and r.id < $3"}
            order by r.id desc limit $2`,
            [workspaceId, page.limit + 1, ...page.after === null ? [] : [page.after]]
          ),
          (rows) => Page.fromOverread(rows.map((row) => plain<Replay.Replay>(row, "replay")), page, ({ id }) => id)
        ),
      cancel: (workspaceId, id, now) =>
        Effect.map(
          query("ReplayStore.cancel", "select wac_cancel_replay($1, $2, coalesce($3, wac_now())) as replay", [
            workspaceId,
            id,
            askedAt(now) ?? null
          ]),
          ([row]) => replayOf(row)
        ),
      step: (now, limit) =>
        Effect.map(
          query("ReplayStore.step", "select wac_step_replay(coalesce($1, wac_now()), $2, $3, $4) as worked", [
            askedAt(now) ?? null,
            limit,
            Replay.maxWaiting,
            Duration.toMillis(Replay.pause)
          ]),
          ([row]) => plain<boolean>(row!, "worked")
        )
    }))
)
