/** The pages: they begin here. */
import { CSPProvider } from "@base-ui/react/csp-provider"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { queryClient, SessionGate } from "./session/Session.tsx"
import { applyFrame } from "./shell/FrameHeight.ts"
import { router } from "./shell/Router.tsx"
import { applyTheme } from "./shell/Theme.ts"
import { applyLanguage } from "./ui/Language.ts"

applyFrame()

// once a new version is installed, the parts of the old one are gone; what is open goes on until it needs one
const render = (): void =>
  createRoot(document.querySelector("#root")!).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <SessionGate>
            <RouterProvider router={router} />
          </SessionGate>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>
  )

// a host's colours and language are there before anything is drawn in others
void Promise.all([applyTheme(), applyLanguage()]).then(render)
