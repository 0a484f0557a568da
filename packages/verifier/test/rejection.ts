import { assert } from "vitest"

/** What a promise rejects with; it must. */
export const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail("The promise was expected to reject")
}
