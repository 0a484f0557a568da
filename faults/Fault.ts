import type { Setting } from "./Setting.ts"
import type { Stage } from "./Stage.ts"

/** What can happen to an installation. */
export interface Fault {
  /** Its name, for `--only` and the table. */
  readonly name: string
  /** What happens, for the table. */
  readonly about: string
  /** Programs that it needs besides the install; it is left out without them. */
  readonly programs?: ReadonlyArray<string | readonly [program: string, ...args: ReadonlyArray<string>]>
  readonly setting?: Setting
  /** Begins it. The inner function ends it. */
  readonly begin: (stage: Stage) => Promise<() => Promise<void> | void>
}
