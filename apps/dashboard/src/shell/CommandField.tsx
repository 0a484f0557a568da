/** The input of the command menu, which both the menu and, while the menu is loading, its dialog show. */
import type { ReactNode } from "react"
import { Icon } from "../ui/Icon.tsx"

/** What a person typed before the menu was loaded. */
export interface Typed {
  readonly text: string
  /** Whether Enter was pressed after the text: then the menu opens the first entry as soon as it is loaded. */
  readonly isEntered: boolean
}

/** The attributes of the input, wherever it is shown. */
export const field = {
  "aria-label": "Page, identifier or number",
  placeholder: "Number or part of it, reference, identifier, name, page",
  className: "min-h-11 w-full bg-transparent outline-none placeholder:text-muted",
  autoFocus: true
}

/** The line that contains the input, with the icon for search. */
export const FieldLine = ({ children }: { readonly children: ReactNode }) => (
  <div className="flex items-center gap-2 border-b border-line px-3">
    <Icon name="search" className="text-muted" />
    {children}
  </div>
)
