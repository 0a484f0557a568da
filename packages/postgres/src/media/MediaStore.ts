/**
 * `MediaStore` in PostgreSQL: combines the step of this folder and adds the short statements.
 */
import { type Media, MediaStep as Step, MediaStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { columns, json, row } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as MediaStep from "./MediaStep.ts"

const findText = `select ${MediaStep.stored.names("m")}
  from media m where m.id = $2 and m.workspace_id = $1`

const dueText = `select m.id, m.workspace_id from media m
  where m.state <> 'removed' and m.due_at <= ${Clocks.at("$1")} order by m.due_at limit $2`

const removedText = "select m.id, m.workspace_id from media m where m.state = 'removed' order by m.id limit $1"

const forgetText = `with gone as (
    delete from media m where m.id = $2 and m.workspace_id = $1 and m.state = 'removed' returning m.id
  )
  delete from media_uploads u using gone g where u.media_id = g.id`

const uploadedText = `select u.provider_media_id, u.expires_at from media_uploads u
  where u.media_id = $1 and u.phone_number_id = $2 and u.expires_at > ${Clocks.at("$3")} + $4::bigint`

const keepUploadedText = `insert into media_uploads (media_id, phone_number_id, provider_media_id, expires_at)
  select m.id, $2, $3, $4 from media m where m.id = $1 and m.state = 'stored'
  on conflict (media_id, phone_number_id) do update set provider_media_id = excluded.provider_media_id,
    expires_at = excluded.expires_at`

/** The update changes nothing; without it, a row that is already there would not be returned. */
const expectText =
  `insert into media as m (id, workspace_id, state, due_at, awaited, phone_number_id, provider_media_id,
    fetch_at)
  values ($1, $2, 'awaited', $3, $4::json, $5, $6, $7)
  on conflict (phone_number_id, provider_media_id) where provider_media_id is not null
  do update set provider_media_id = excluded.provider_media_id
  returning m.id`

const claimText = (which: string) =>
  `with judged as (select ${Clocks.at("$1")} as now)
  update media m set lease_until = j.now + $2::bigint,
    fetch_at = case when m.fetch_at is null then null else j.now + $2::bigint end
  from judged j where m.id = any (array(
    select o.id from media o where o.state = 'awaited'
      and (o.lease_until is null or o.lease_until <= ${Clocks.at("$1")}) and ${which}
    limit $3 for update skip locked
  ))
  returning m.awaited`

const claimDueText = claimText(`o.fetch_at <= ${Clocks.at("$1")}`)
const claimOneText = claimText("o.workspace_id = $4 and o.id = $5")

const loseText = `update media m set state = 'gone', fetch_at = null, lease_until = null
  where m.id = $2 and m.workspace_id = $1 and m.state = 'awaited'`

const postponeText = `update media m set fetch_at = $3, lease_until = null
  where m.id = $2 and m.workspace_id = $1 and m.state = 'awaited' and m.fetch_at is not null`

const named = MediaStep.stored.pick("workspaceId", "id")

const uploaded = columns<MediaStore.ProviderMedia>({ providerMediaId: "text", expiresAt: "bigint" })

const expected = MediaStep.stored.pick("id")

const claimed = row({ awaited: json<Media.Awaited>() })

export const layer = Layer.effect(
  MediaStore.MediaStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const step = yield* stepped("MediaStore.step", MediaStep.options)

    return MediaStore.MediaStore.of({
      begin: (command) => Effect.map(step({ _tag: "Begin", ...command }), Step.begunOf),
      keep: (command) => Effect.map(step({ _tag: "Keep", ...command }), Step.keptOf),
      remove: (command) => Effect.map(step({ _tag: "Remove", ...command }), Step.removedOf),
      find: ({ id, workspaceId }) =>
        Effect.map(
          query("MediaStore.find", findText, [workspaceId, id]),
          ([row]) => Option.fromUndefinedOr(Step.foundOf(row && MediaStep.rowOf(row)))
        ),
      use: ({ id, workspaceId }, now, keptFor) => Effect.asVoid(step({ _tag: "Use", workspaceId, id, now, keptFor })),
      due: (now, limit) =>
        Effect.map(query("MediaStore.due", dueText, [callerNow(now) ?? null, limit]), (rows) => rows.map(named.read)),
      removed: (limit) => Effect.map(query("MediaStore.removed", removedText, [limit]), (rows) => rows.map(named.read)),
      forget: ({ id, workspaceId }) => Effect.asVoid(query("MediaStore.forget", forgetText, [workspaceId, id])),
      uploaded: (id, phoneNumberId, now, margin) =>
        Effect.map(
          query("MediaStore.uploaded", uploadedText, [id, phoneNumberId, callerNow(now) ?? null, margin]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), uploaded.read)
        ),
      keepUploaded: (id, phoneNumberId, { expiresAt, providerMediaId }) =>
        Effect.asVoid(
          query("MediaStore.keepUploaded", keepUploadedText, [id, phoneNumberId, providerMediaId, expiresAt])
        ),
      expect: (awaited, fetchAt) =>
        Effect.map(
          query("MediaStore.expect", expectText, [
            awaited.id,
            awaited.workspaceId,
            Step.expected(awaited).dueAt,
            JSON.stringify(awaited),
            awaited.phoneNumberId,
            awaited.providerMediaId,
            fetchAt
          ]),
          ([row]) => expected.read(row!).id
        ),
      claimAwaited: ({ limit, now, only, until }) => {
        const params = [callerNow(now) ?? null, until - now, limit]
        return Effect.map(
          only === undefined
            ? query("MediaStore.claimAwaited", claimDueText, params)
            : query("MediaStore.claimAwaited", claimOneText, [...params, only.workspaceId, only.id]),
          (rows) => rows.map((row) => claimed.read(row).awaited)
        )
      },
      postpone: ({ id, workspaceId }, fetchAt) =>
        Effect.asVoid(query("MediaStore.postpone", postponeText, [workspaceId, id, fetchAt])),
      lose: ({ id, workspaceId }) => Effect.asVoid(query("MediaStore.lose", loseText, [workspaceId, id]))
    })
  })
)
