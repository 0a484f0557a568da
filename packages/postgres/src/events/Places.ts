/**
 * Places of events and deliveries, in the order of writing. Transactions end in another order than they draw places, so
 * each announces first, for as long as it lasts, a place that is less than all that it will draw. Only our own short
 * transactions do: one of somebody else, however long, holds nobody up.
 */

/** The part of an announcement that tells it from all other advisory locks. */
const announced = "7305148000000000000"

/** Announces that this transaction will draw places (`nextval('positions')`), which must be drawn after it. */
export const announce = `select pg_advisory_xact_lock_shared(${announced} + p.last_value) from positions p`

/** The last place that was drawn. */
export const last = "(select p.last_value from positions p)"

/**
 * Whatever will ever have this place or a lesser one is seen by a statement that begins after the one that this is in.
 * The last place is read before the announcements: whoever announces later draws more.
 */
export const settled = `(
    select least(p.last_value, l.place)
    from (select p.last_value from positions p offset 0) p
    cross join lateral (
      select min(l.place) as place from (
        select (l.classid::bigint << 32 | l.objid::bigint) - ${announced} as place from pg_locks l
        where l.locktype = 'advisory' and l.objsubid = 1
          and l.database = (select d.oid from pg_database d where d.datname = current_database())
          and (l.classid::bigint << 32 | l.objid::bigint) >= ${announced}
      ) l
      where l.place <= p.last_value
    ) l
  )`
