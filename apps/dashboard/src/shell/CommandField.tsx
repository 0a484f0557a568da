/** The field of the command menu, which the dialog shows before the menu itself is there. */
import type { ReactNode } from "react"
import { Icon } from "../ui/Icon.tsx"

/** The text that was typed before the menu was loaded. */
export interface Typed {
  readonly text: string
  /** Whether Enter was pressed after it: the best entry is gone to. */
  readonly isEntered: boolean
}

/** The attributes of the field, whichever part shows it. */
export const field = {
  "aria-label": "Page, identifier or number",
  placeholder: "Number or part of it, reference, identifier, name, page",
  className: "min-h-11 w-full bg-transparent outline-none placeholder:text-muted",
  autoFocus: true
}

/** The line that the field stands in. */
export const FieldLine = ({ children }: { readonly children: ReactNode }) => (
  <div className="flex items-center gap-2 border-b border-line px-3">
    <Icon name="search" className="text-muted" />
    {children}
  </div>
)
