/** Dialogs: what opens over a page and takes the keyboard until it is closed. */
import { Dialog as Base } from "@base-ui/react/dialog"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Failure } from "./Failure.tsx"
import { elsewhere } from "./Field.tsx"
import { t } from "./Language.ts"

/** Whether a dialog is open. Nothing may open over it or lead away from it: it may show what is shown only once. */
export const isAsking = (): boolean => document.querySelector("[data-asking]") !== null

/** A dialog. It is rendered only while it is open, so whatever it contains begins anew each time. */
export const Dialog = (
  { children, isDismissible, onClose, title, width = "max-w-lg" }: {
    readonly title: string
    readonly onClose: () => void
    /** Whether Escape and a click beside it close it: not while it waits for a response, which it has to show. */
    readonly isDismissible: boolean
    readonly width?: string
    readonly children: ReactNode
  }
) => (
  <Base.Root
    open
    onOpenChange={(open) => {
      if (!open && isDismissible) onClose()
    }}
    disablePointerDismissal={!isDismissible}
  >
    <Base.Portal>
      <Base.Backdrop className="fixed inset-0 z-40 animate-appear bg-scrim" />
      <Base.Viewport className="fixed inset-0 z-40 flex items-start justify-center overflow-y-auto p-3 sm:p-10">
        <Base.Popup data-asking className={`card animate-appear my-auto w-full ${width} p-5 shadow-xl`}>
          <Base.Title className="mb-3 text-lg font-semibold">{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Viewport>
    </Base.Portal>
  </Base.Root>
)

/**
 * Asks before something that cannot be taken back; its text says in numbers what it will do. It makes the request
 * itself, so its error is gone once it is closed.
 */
export function Confirm<Answer>(
  { act, action, children, dismiss = t("Cancel"), look = "destroy", onClose, onDone = onClose, param, refusal, title }:
    {
      readonly title: string
      /** The label of the button that confirms. */
      readonly action: string
      readonly look?: "primary" | "destroy"
      /** The label of the button that does nothing. */
      readonly dismiss?: string
      /** Why it cannot be confirmed now. */
      readonly refusal?: string | undefined
      /** What is done once it is confirmed. */
      readonly act: () => Promise<Answer>
      readonly onClose: () => void
      /** Called once it is done; closes the dialog. */
      readonly onDone?: (answer: Answer) => unknown
      /** The field of its content that shows the refusals about it. */
      readonly param?: string
      readonly children: ReactNode | ((error: unknown) => ReactNode)
    }
) {
  const client = useQueryClient()
  const run = useMutation({ mutationFn: act, onSuccess: onDone, onSettled: () => client.invalidateQueries() })
  return (
    <Dialog title={title} isDismissible={!run.isPending} onClose={onClose} width="max-w-md">
      {/* only the button confirms, and not Enter in a field */}
      <form className="space-y-4" onSubmit={(event) => event.preventDefault()}>
        <div>{typeof children === "function" ? children(run.error) : children}</div>
        <Failure error={param === undefined ? run.error : elsewhere(run.error, param)} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button isPending={run.isPending} onClick={onClose}>{dismiss}</Button>
          <Button
            look={look}
            refusal={refusal}
            isPending={run.isPending}
            onClick={({ currentTarget: { form } }) => {
              // a field that is half filled in has no value, which could mean something else
              if (form?.reportValidity() !== false) run.mutate()
            }}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
