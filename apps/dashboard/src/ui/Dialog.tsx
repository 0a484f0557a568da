/** Dialogs: what opens over a page and takes the keyboard until it is closed. */
import { Dialog as Base } from "@base-ui/react/dialog"
import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Failure } from "./Failure.tsx"
import { t } from "./Language.ts"

export const Dialog = (
  { children, isDismissible = true, isOpen, onClose, title, width = "max-w-lg" }: {
    readonly title: string
    readonly isOpen: boolean
    readonly onClose: () => void
    /** Whether Escape and a click beside it close it. */
    readonly isDismissible?: boolean
    readonly width?: string
    readonly children: ReactNode
  }
) => (
  <Base.Root
    open={isOpen}
    onOpenChange={(open) => {
      if (!open && isDismissible) onClose()
    }}
    disablePointerDismissal={!isDismissible}
  >
    <Base.Portal>
      <Base.Backdrop className="fixed inset-0 z-40 animate-appear bg-scrim" />
      <Base.Viewport className="fixed inset-0 z-40 flex items-start justify-center overflow-y-auto p-3 sm:p-10">
        <Base.Popup className={`card animate-appear my-auto w-full ${width} p-5 shadow-xl`}>
          <Base.Title className="mb-3 text-lg font-semibold">{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Viewport>
    </Base.Portal>
  </Base.Root>
)

/** Asks before something that cannot be taken back; its text says in numbers what it will do. */
export const Confirm = (
  { action, children, dismiss = t("Cancel"), error, isOpen, isPending, look = "destroy", onClose, onConfirm, title }: {
    readonly title: string
    /** The label of the button that confirms. */
    readonly action: string
    readonly look?: "primary" | "destroy"
    /** The label of the button that does nothing. */
    readonly dismiss?: string
    readonly isOpen: boolean
    readonly isPending: boolean
    readonly error: unknown
    readonly onClose: () => void
    readonly onConfirm: () => void
    readonly children: ReactNode
  }
) => (
  <Dialog title={title} isOpen={isOpen} onClose={onClose} width="max-w-md">
    <div className="space-y-4">
      <div>{children}</div>
      <Failure error={error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{dismiss}</Button>
        <Button look={look} isPending={isPending} onClick={onConfirm}>{action}</Button>
      </div>
    </div>
  </Dialog>
)
