/**
 * Has the browser ready, once for all test files that start it.
 */
import * as Chromium from "@wac/testbed/Chromium"

export const setup = async (): Promise<void> => {
  await Chromium.prepare()
}
