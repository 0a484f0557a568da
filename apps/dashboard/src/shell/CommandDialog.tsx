/** The dialog of the command menu. It takes input immediately, even while the menu itself is loading. */
import { Dialog } from "@base-ui/react/dialog"
import { Suspense, useState } from "react"
import { field, FieldLine, type Typed } from "./CommandField.tsx"
import { lazyPart } from "./LazyPart.ts"

const CommandMenu = lazyPart(() => import("./CommandMenu.tsx"), "CommandMenu")

export const CommandDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [typed, setTyped] = useState<Typed>({ text: "", isEntered: false })
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Popup className="card fixed inset-x-3 top-[12vh] z-40 mx-auto max-w-lg overflow-hidden shadow-xl">
          <Dialog.Title className="sr-only">Go to</Dialog.Title>
          <Suspense
            fallback={
              <FieldLine>
                <input
                  {...field}
                  value={typed.text}
                  onChange={({ target }) => setTyped({ text: target.value, isEntered: false })}
                  onKeyDown={({ key }) => key === "Enter" && setTyped({ ...typed, isEntered: true })}
                />
              </FieldLine>
            }
          >
            <CommandMenu typed={typed} onClose={onClose} />
          </Suspense>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
