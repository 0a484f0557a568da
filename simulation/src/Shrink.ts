/**
 * Finds a smaller plan that fails in the same way: without some kinds of faults, and with fewer operations.
 */
import type * as Plan from "./Plan.ts"

/** A test of a plan: whether it fails in the way that is looked for. */
export type Fails = (plan: Plan.Plan) => Promise<boolean>

const without = <A>(all: ReadonlyArray<A>, from: number, count: number): ReadonlyArray<A> => [
  ...all.slice(0, from),
  ...all.slice(from + count)
]

/** A plan that fails, from which no kind of fault and no single operation can be left out. Asks `fails` often. */
export const shrink = async (plan: Plan.Plan, fails: Fails): Promise<Plan.Plan> => {
  let smallest = plan
  const attempt = async (smaller: Plan.Plan): Promise<boolean> => {
    if (!(await fails(smaller))) return false
    smallest = smaller
    return true
  }
  for (const fault of plan.faults) {
    await attempt({ ...smallest, faults: smallest.faults.filter((one) => one !== fault) })
  }
  for (let size = Math.ceil(plan.operations.length / 2), hasShrunk = false; size >= 1;) {
    for (let from = 0; from < smallest.operations.length;) {
      if (await attempt({ ...smallest, operations: without(smallest.operations, from, size) })) hasShrunk = true
      else from += size
    }
    // once nothing can be left out any more, neither half of it can
    if (size > 1) size = Math.ceil(size / 2)
    else if (!hasShrunk) break
    else hasShrunk = false
  }
  return smallest
}
