/** The open dialog of a page, which the address names, so that the command menu and links can lead to it. */
import { useNavigate, useSearch } from "@tanstack/react-router"

/** Of these dialogs, the name of the open one, and the function that opens another, or none. Back closes a dialog. */
export const useOpened = <Name extends string>(names: ReadonlyArray<Name>) => {
  const { dialog } = useSearch({ strict: false }) as { readonly dialog?: string }
  const navigate = useNavigate()
  const opened = names.find((name) => name === dialog)
  const setOpened = (name: Name | undefined) =>
    void navigate({
      to: ".",
      // Back does not open a closed dialog again
      replace: name === undefined,
      search: (({ dialog: _, ...search }: Record<string, unknown>) =>
        name === undefined ? search : { ...search, dialog: name }) as never
    })
  return [opened, setOpened] as const
}
