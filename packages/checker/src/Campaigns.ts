/**
 * The promises about campaigns (contract §11), except those about their customers, which are in `Customers.ts`.
 */
import { type Blame, endOf, greatest, grouped, least } from "./Broken.ts"
import { claimLease, Customers } from "./Customers.ts"
import type {
  CampaignChange,
  CampaignRead,
  CustomerNames,
  Entry,
  ListedEvent,
  PreferenceSet,
  ProviderCall,
  Received,
  RecipientsUpload,
  Report
} from "./History.ts"

/** The entries about one campaign. Each list is in the order of `begun`. */
interface Campaign {
  readonly changes: ReadonlyArray<CampaignChange>
  readonly reads: ReadonlyArray<CampaignRead>
  readonly calls: ReadonlyArray<ProviderCall>
  readonly completed: ReadonlyArray<ListedEvent>
  readonly uploads: ReadonlyArray<RecipientsUpload>
  /** The reports of the messages in `calls`. */
  readonly reports: ReadonlyArray<Report>
}

const checkStopped = ({ calls, changes }: Campaign, clockError: number, blame: Blame): void => {
  const isStop = ({ change }: CampaignChange) => change === "pause" || change === "cancel"
  // a pause or cancellation counts once no earlier send can still be on its way, a start or resume from its beginning
  const happenings = changes
    .filter((change) => !isStop(change) || (change.status === 200 && change.ended !== null))
    .map((change) => ({ change, at: isStop(change) ? endOf(change) + claimLease + clockError : change.begun }))
    .sort((a, b) => a.at - b.at)
  let next = 0
  let cancel: CampaignChange | undefined
  let pause: CampaignChange | undefined
  let goesOnUntil = -Infinity
  for (const call of calls) {
    for (; next < happenings.length && happenings[next]!.at < call.begun; next++) {
      const { change } = happenings[next]!
      if (change.change === "cancel") cancel ??= change
      else if (!isStop(change)) goesOnUntil = Math.max(goesOnUntil, endOf(change) + clockError)
      else if (pause === undefined || change.begun > pause.begun) pause = change
    }
    const stop = cancel ?? (pause !== undefined && pause.begun > goesOnUntil ? pause : undefined)
    if (stop !== undefined) blame("campaign-stopped", `sends after ${stop.change}`, stop, call)
  }
}

const checkEnd = ({ calls, reads }: Campaign, clockError: number, blame: Blame): void => {
  // a campaign's end can be changed, so the latest one counts
  const end = greatest(reads.map(({ not_after: end }) => end ?? Infinity))
  const late = calls.find(({ begun }) => begun > end + claimLease + clockError)
  if (reads.length > 0 && late !== undefined) {
    blame("not-after-send-until", "called after the campaign's not_after", reads, late)
  }
}

/** The customers under all names that the history ever tells, and those who were ever opted out. */
interface People {
  readonly customers: Customers
  readonly optedOut: ReadonlySet<ReturnType<Customers["of"]>>
}

/** Checks who is counted. Opt-outs and names that a check may have known leave a recipient out, or in doubt. */
const checkTotal = ({ changes, reads, uploads }: Campaign, people: People, clockError: number, blame: Blame): void => {
  if (uploads.length === 0) return
  const starts = changes.filter(({ change }) => change === "start")
  const [first] = starts
  const started = least(starts.filter(({ status }) => status === 200).map(endOf)) + clockError
  const names = new Set(uploads.flatMap(({ to }) => to))
  const certain = new Set(
    uploads
      .filter((upload) => upload.status === 200 && endOf(upload) + clockError < (first?.begun ?? Infinity))
      .flatMap(({ to }) => to.map((name) => people.customers.of(name)))
      .filter((customer) => !people.optedOut.has(customer))
  )
  for (const read of reads) {
    const total = read.counts["total"] ?? 0
    const fewest = read.begun > started ? certain.size : 0
    if (total < fewest || total > names.size) {
      blame("campaign-counts", `${total} recipients of ${fewest} to ${names.size}`, uploads, read)
    }
  }
}

/** Checks what is counted in the end. A history without calls for the campaign leaves that open. */
const checkCounts = ({ calls, reports }: Campaign, read: CampaignRead, blame: Blame): void => {
  if (calls.length === 0) return
  const count = (...names: ReadonlyArray<string>) => names.reduce((sum, name) => sum + (read.counts[name] ?? 0), 0)
  const messages = (entries: ReadonlyArray<{ readonly message_id: string }>) =>
    new Set(entries.map((entry) => entry.message_id)).size
  const check = (what: string, counted: number, entries: ReadonlyArray<Entry>, from: number, to: number) => {
    if (counted < from || counted > to) {
      blame("campaign-counts", `${counted} ${what}, and there are ${from} to ${to}`, entries, read)
    }
  }
  const asked = calls.filter(({ outcome }) => outcome !== "not_sent")
  const mayBeSent = [...calls.filter(({ outcome }) => outcome === "accepted" || outcome === "unknown"), ...reports]
  const tried = count("sent", "delivered", "read", "failed", "held", "unknown")
  // a message may fail without a call that was recorded: its process was killed before it
  check("were sent or failed", tried, asked, messages(asked), Infinity)
  check("were sent", count("sent", "delivered", "read"), mayBeSent, 0, messages(mayBeSent))
  const reported = (...statuses: ReadonlyArray<Report["status"]>) => {
    const some = reports.filter(({ status }) => statuses.includes(status))
    const certain = some.filter(({ ended }) => ended !== null)
    check(`are ${statuses.join(" or ")}`, count(...statuses), some, messages(certain), messages(some))
  }
  reported("delivered", "read")
  reported("read")
}

/** The last read of a campaign after everything was settled. */
const lastRead = ({ reads }: Campaign, settledAt: number): CampaignRead | undefined =>
  reads.findLast(({ begun }) => begun >= settledAt)

/** Whether a campaign is known to have nobody in its queue. */
const isOver = (read: CampaignRead | undefined): boolean => read?.status === "completed" || read?.status === "cancelled"

const checkCampaign = (
  campaign: Campaign,
  settledAt: number,
  hasEvents: boolean,
  clockError: number,
  blame: Blame
): void => {
  const { changes, completed, reads } = campaign
  for (const read of reads) {
    const { total, ...counts } = read.counts
    if (Object.values(counts).reduce((sum, count) => sum + count, 0) !== total) {
      blame("campaign-counts", "the counts do not add up to the total", read)
    }
    if (read.status === "completed" && (counts["queued"] ?? 0) > 0) {
      blame("campaign-completed", "completed, and there are recipients in its queue", read)
    }
  }
  const [first, second] = completed
  if (first !== undefined && second !== undefined) blame("campaign-completed", "completed twice", first, second)
  const last = lastRead(campaign, settledAt)
  if (last !== undefined) checkCounts(campaign, last, blame)
  const isStarted = changes.some(({ change, status }) => change === "start" && status === 200)
  if (last !== undefined && isOver(last) && isStarted && hasEvents && first === undefined) {
    blame("campaign-completed", "campaign.completed is missing", last)
  }
  if (last?.status === "running") blame("campaign-completed", "still running when nothing is in progress", last)
  if (last !== undefined && !isOver(last) && first !== undefined) {
    blame("campaign-completed", `completed, and ${last.status}`, first, last)
  }
  checkStopped(campaign, clockError, blame)
  checkEnd(campaign, clockError, blame)
}

/**
 * Checks the promises of §11 about campaigns. `reports` are those of each message. Returns the campaigns that may have
 * recipients in their queue in the end.
 */
export const checkCampaigns = (
  entries: {
    readonly changes: ReadonlyArray<CampaignChange>
    readonly reads: ReadonlyArray<CampaignRead>
    readonly calls: ReadonlyArray<ProviderCall>
    readonly reports: ReadonlyMap<string, ReadonlyArray<Report>>
    readonly uploads: ReadonlyArray<RecipientsUpload>
    readonly customerNames: ReadonlyArray<CustomerNames>
    readonly choices: ReadonlyArray<PreferenceSet | Received>
    readonly listed: ReadonlyMap<string, ListedEvent>
  },
  settledAt: number,
  clockError: number,
  blame: Blame
): ReadonlySet<string> => {
  const open = new Set<string>()
  const customers = new Customers()
  for (const { names } of entries.customerNames) customers.join(names)
  const optedOut = new Set(
    entries.choices
      .filter(({ preference }) => preference === "opt_out")
      .map((choice) => customers.of(choice.kind === "received" ? choice.from : choice.name))
  )
  const by = {
    changes: grouped(entries.changes, ({ campaign }) => campaign),
    reads: grouped(entries.reads, ({ campaign }) => campaign),
    uploads: grouped(entries.uploads, ({ campaign }) => campaign),
    calls: grouped(entries.calls.filter(({ campaign }) => campaign !== undefined), ({ campaign }) => campaign!),
    completed: grouped(
      [...entries.listed.values()].filter(({ event }) => event.type === "campaign.completed"),
      ({ event }) => String(event.data["campaign_id"])
    )
  }
  for (const id of new Set(Object.values(by).flatMap((groups) => [...groups.keys()]))) {
    const calls = by.calls.get(id) ?? []
    const campaign: Campaign = {
      changes: by.changes.get(id) ?? [],
      reads: by.reads.get(id) ?? [],
      calls,
      uploads: by.uploads.get(id) ?? [],
      reports: [...new Set(calls.map((call) => call.message_id))].flatMap((message) =>
        entries.reports.get(message) ?? []
      ),
      completed: by.completed.get(id) ?? []
    }
    checkCampaign(campaign, settledAt, entries.listed.size > 0, clockError, blame)
    checkTotal(campaign, { customers, optedOut }, clockError, blame)
    if (!isOver(lastRead(campaign, settledAt))) open.add(id)
  }
  return open
}
