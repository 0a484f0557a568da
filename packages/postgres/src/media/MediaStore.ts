/**
 * `MediaStore` in PostgreSQL: combines the step of this folder and adds the short statements.
 */
import { type Id, type Media, MediaStep as Step, MediaStore, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, boolean, columns, json, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import { first, type Given, statement, value } from "../Statement.ts"
import { insertOne, select } from "../TableStatements.ts"
import * as MediaStep from "./MediaStep.ts"

const named = MediaStep.stored.pick("workspaceId", "id")

const find = select(MediaStep.stored, "wac.media", named)

const limit = value<number>()

const due = statement({ now: Clocks.asked, limit }, ({ limit, now }) =>
  `select ${named.names("m")} from wac.media m
  where m.state <> 'removed' and m.due_at <= ${now} order by m.due_at limit ${limit}`)

const removed = statement({ now: Clocks.asked, after: value<string>(), limit }, ({ after, limit, now }) => `
  select ${named.names("m")} from wac.media m
  where m.state = 'removed' and m.id > ${after} and (m.lease_until is null or m.lease_until <= ${now})
  order by m.id limit ${limit}`)

const forget = statement({ named: named.one, now: Clocks.asked }, (given) =>
  `with gone as (
    delete from wac.media m where ${named.are("m", given.named)} and m.state = 'removed'
      and (m.lease_until is null or m.lease_until <= ${given.now})
    returning m.id
  )
  delete from wac.media_uploads u using gone g where u.media_id = g.id`)

const providerMedia = columns<MediaStore.ProviderMedia>({ providerMediaId: "text", expiresAt: "bigint" })

const upload = row({ mediaId: text<Id.MediaId>(), phoneNumberId: text<Id.PhoneNumberId>() }).and(providerMedia)

const place = upload.pick("mediaId", "phoneNumberId")

const uploaded = statement({ place: place.one, now: Clocks.asked, margin: value<number>() }, (given) => `
  select ${providerMedia.names("u")} from wac.media_uploads u
  where ${place.are("u", given.place)} and u.expires_at > ${given.now} + ${given.margin}::bigint`)

const keepUploaded = statement({ upload: upload.one }, ({ upload: given }) => `
  insert into wac.media_uploads (${upload.names()})
  select ${upload.values(given)} from wac.media m where m.id = ${given.mediaId} and m.state = 'stored'
  on conflict (${place.names()}) do update set ${providerMedia.set("excluded")}`)

const forgetUploaded = statement(
  { place: place.one, providerMediaId: value<string>() },
  (given) => `
  delete from wac.media_uploads u
  where ${place.are("u", given.place)} and u.provider_media_id = ${given.providerMediaId}`
)

const expected = MediaStep.stored.omit("media").and(row({
  phoneNumberId: text<Id.PhoneNumberId>(),
  providerMediaId: text(),
  fetchAt: bigint<Time.Instant | null>()
}))

/**
 * Records that a file is awaited, or finds its row. The update changes nothing, but without it an existing row would
 * not be returned.
 */
const expect = insertOne(
  expected,
  "wac.media as m",
  `
  on conflict (phone_number_id, provider_media_id) where provider_media_id is not null
  do update set provider_media_id = excluded.provider_media_id
  returning m.id`
)

const id = expected.pick("id")

const claimed = row({
  workspaceId: text<Id.WorkspaceId>(),
  id: text<Id.MediaId>(),
  leaseUntil: bigint<Time.Instant>(),
  awaited: json<Media.Awaited>()
})

const claimedAt = claimed.and(row({ at: bigint<Time.Instant>() }))

const claim = { now: Clocks.asked, leasedFor: value<number>(), limit }

const claimText = ({ leasedFor, limit, now }: Given<typeof claim>, which: string): string =>
  `with judged as (select ${now} as now)
  update wac.media m set lease_until = j.now + ${leasedFor}::bigint,
    fetch_at = case when m.fetch_at is null then null else j.now + ${leasedFor}::bigint end
  from judged j where m.id = any (array(
    select o.id from wac.media o where o.state = 'awaited'
      and (o.lease_until is null or o.lease_until <= ${now}) and ${which}
    limit ${limit} for update skip locked
  ))
  returning ${claimed.names("m")}, j.now as at`

const claimDue = statement(claim, (given) => claimText(given, `o.fetch_at <= ${given.now}`))

const claimOne = statement(
  { ...claim, only: named.one },
  ({ only, ...given }) => claimText(given, `o.workspace_id = ${only.workspaceId} and o.id = ${only.id}`)
)

const ofClaim = claimed.pick("workspaceId", "id", "leaseUntil")

/** A file that has no row can be nobody else's: ids are not used again. */
export const mayErase = statement({ claim: ofClaim.one, now: Clocks.asked }, ({ claim, now }) => `
  select not exists (
    select 1 from wac.media m where m.workspace_id = ${claim.workspaceId} and m.id = ${claim.id}
      and (m.state in ('uploading', 'stored')
        or m.state = 'awaited' and (m.lease_until is distinct from ${claim.leaseUntil} or m.lease_until <= ${now}))
  ) as is_allowed`)

const allowed = row({ isAllowed: boolean() })

const lose = statement({ claim: ofClaim.one }, ({ claim }) => `
  update wac.media m set state = 'gone', fetch_at = null, lease_until = null
  where ${ofClaim.are("m", claim)} and m.state = 'awaited'`)

const postpone = statement({ claim: ofClaim.one, now: Clocks.asked, after: value<number>() }, (given) => `
  update wac.media m set lease_until = null,
    fetch_at = case when m.fetch_at is null then null else ${given.now} + ${given.after}::bigint end
  where ${ofClaim.are("m", given.claim)} and m.state in ('awaited', 'removed')`)

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
      find: (named) =>
        Effect.map(
          query("MediaStore.find", find(named)),
          ([row]) => Option.fromUndefinedOr(Step.foundOf(row && MediaStep.rowOf(row)))
        ),
      use: ({ id, workspaceId }, now, keptFor, until) =>
        Effect.asVoid(step({ _tag: "Use", workspaceId, id, now, keptFor, until })),
      due: (now, limit) =>
        Effect.map(query("MediaStore.due", due({ now: callerNow(now), limit })), (rows) => rows.map(named.read)),
      removed: (now, after, limit) =>
        Effect.map(
          query("MediaStore.removed", removed({ now: callerNow(now), after, limit })),
          (rows) => rows.map(named.read)
        ),
      forget: (named, now) => Effect.asVoid(query("MediaStore.forget", forget({ named, now: callerNow(now) }))),
      uploaded: (mediaId, phoneNumberId, now, margin) =>
        Effect.map(
          query("MediaStore.uploaded", uploaded({ place: { mediaId, phoneNumberId }, now: callerNow(now), margin })),
          first(providerMedia.read)
        ),
      keepUploaded: (mediaId, phoneNumberId, media) =>
        Effect.asVoid(query("MediaStore.keepUploaded", keepUploaded({ upload: { mediaId, phoneNumberId, ...media } }))),
      forgetUploaded: (mediaId, phoneNumberId, providerMediaId) =>
        Effect.asVoid(
          query(
            "MediaStore.forgetUploaded",
            forgetUploaded({ place: { mediaId, phoneNumberId }, providerMediaId })
          )
        ),
      expect: (awaited, fetchAt) =>
        Effect.map(
          query("MediaStore.expect", expect({ ...awaited, ...Step.expected(awaited), fetchAt })),
          ([row]) => id.read(row!).id
        ),
      claimAwaited: ({ limit, now, only, until }) => {
        const claim = { now: callerNow(now), leasedFor: until - now, limit }
        return Effect.map(
          query("MediaStore.claimAwaited", only === undefined ? claimDue(claim) : claimOne({ ...claim, only })),
          (rows) => rows.map(claimedAt.read)
        )
      },
      mayErase: (claim, now) =>
        Effect.map(
          query("MediaStore.mayErase", mayErase({ claim, now: callerNow(now) })),
          ([row]) => allowed.read(row!).isAllowed
        ),
      postpone: (claim, now, after) =>
        Effect.asVoid(query("MediaStore.postpone", postpone({ claim, now: callerNow(now), after }))),
      lose: (claim) => Effect.asVoid(query("MediaStore.lose", lose({ claim })))
    })
  })
)
