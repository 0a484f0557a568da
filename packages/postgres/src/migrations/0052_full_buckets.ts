/**
 * An index of buckets by the time from which they may be deleted. A bucket that the frequency cap keeps stays for up to
 * 90 days after it is full, so the sweep would read it each second. The version before, which may run beside this one,
 * still deletes by `buckets_full`.
 */
import { ifMissing, type Index } from "../IndexBuild.ts"

export const index: Index = {
  name: "buckets_done",
  table: "buckets",
  definition: "(greatest(full_at, marketing_until)) where counted_at is null"
}

export const sql = `
${ifMissing(index)};
comment on index buckets_done is 'Those that may go, by when neither the rate limit nor the frequency cap needs them';
comment on index buckets_full is 'For the version before: buckets by when they are full';
`
