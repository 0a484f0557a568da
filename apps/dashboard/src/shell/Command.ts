/** An entry of the command menu: its name and icon, and the page to which it leads. */
import type { IconName } from "../ui/Icon.tsx"

export interface Command {
  readonly name: string
  readonly icon: IconName
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly id?: string
}
