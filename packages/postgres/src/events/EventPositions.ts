/**
 * Positions number events and deliveries in the order of writing. Transactions may commit in a different order than
 * they draw positions, so each first announces, until it ends, a position below all that it will draw. Only wac's own
 * short transactions announce, so other transactions delay nothing, however long they are.
 */
import { lockOffset } from "../Schema.ts"

/** The part of an announcement's lock that distinguishes it from other advisory locks. */
const announced = `(7305148000000000000 + ${lockOffset})`

/** Announces that this transaction will draw positions (`nextval('positions')`). They must be drawn afterwards. */
export const announce = `select pg_advisory_xact_lock_shared(${announced} + p.last_value) from wac.positions p`

/** An expression for the last position drawn. */
export const last = "(select p.last_value from wac.positions p)"

/**
 * An expression for the highest settled position: a later statement sees everything that will ever have this position
 * or a lower one. The last position is read before the announcements, because a later announcement draws higher
 * positions.
 */
export const settled = `(
    select least(p.last_value, l.place)
    from (select p.last_value from wac.positions p offset 0) p
    cross join lateral (
      select min(l.place) as place from (
        select (l.classid::bigint << 32 | l.objid::bigint) - ${announced} as place from pg_catalog.pg_locks l
        where l.locktype = 'advisory' and l.objsubid = 1
          and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
          and (l.classid::bigint << 32 | l.objid::bigint) >= ${announced}
      ) l
      where l.place <= p.last_value
    ) l
  )`
