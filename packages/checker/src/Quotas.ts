/**
 * The promise about quotas (contract §7).
 */
import { type Blame, endOf, greatest, grouped } from "./Broken.ts"
import { type AskedAt, checkedFrom } from "./Customers.ts"
import type { ProviderCall, QuotaSet } from "./History.ts"

const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7)

/** Checks the promises of §7 about quotas. `hasFailed`: whether a message ever failed, which gives its quota back. */
export const checkQuotas = (
  calls: ReadonlyArray<ProviderCall>,
  quotas: ReadonlyArray<QuotaSet>,
  hasFailed: (message: string) => boolean,
  askedAt: AskedAt,
  clockError: number,
  blame: Blame
): void => {
  const accepted = calls.filter(({ outcome, workspace }) => outcome === "accepted" && workspace !== undefined)
  const byWorkspace = grouped(accepted, ({ workspace }) => workspace!)
  for (const [workspace, set] of grouped(quotas, (quota) => quota.workspace)) {
    const spent = (byWorkspace.get(workspace) ?? []).filter((call) =>
      !hasFailed(call.message_id) &&
      // a call that may have been counted in the previous month counts in neither
      monthOf(call.begun) === monthOf(checkedFrom(call, askedAt) - clockError)
    )
    for (const month of grouped(spent, ({ begun }) => monthOf(begun)).values()) {
      const messages = new Set<string>()
      for (const call of month) {
        const from = checkedFrom(call, askedAt) - clockError
        const isOver = (quota: QuotaSet, index: number) =>
          set.slice(index + 1).some((later) => endOf(later) < from && later.begun > endOf(quota))
        const inForce = set.filter((quota, index) => quota.begun <= call.begun + clockError && !isOver(quota, index))
        const isLimited = set.some((quota) => endOf(quota) < from)
        const limit = isLimited ? greatest(inForce.map((quota) => quota.messages ?? Infinity)) : Infinity
        messages.add(call.message_id)
        if (messages.size > limit) {
          blame("quota", `message ${messages.size} of a month with a quota of ${limit}`, inForce, call)
        }
      }
    }
  }
}
