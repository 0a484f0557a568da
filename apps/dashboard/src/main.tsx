/** The entry point of the pages: applies frame, theme and language, then renders. */
import { CSPProvider } from "@base-ui/react/csp-provider"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { followLinks } from "./session/Portal.tsx"
import { queryClient } from "./session/Refetching.ts"
import { SessionGate } from "./session/Session.tsx"
import { applyFrame } from "./shell/FrameHeight.ts"
import { router } from "./shell/Router.tsx"
import { applyTheme } from "./shell/Theme.ts"
import { applyLanguage } from "./ui/Language.ts"

applyFrame()
followLinks()

const render = (): void =>
  createRoot(document.querySelector("#root")!).render(
    <StrictMode>
      {/* the service's content security policy forbids style elements */}
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <SessionGate>
            <RouterProvider router={router} />
          </SessionGate>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>
  )

// a host's colours and the language are loaded before the first render, so nothing changes its look afterwards
void Promise.all([applyTheme(), applyLanguage()]).then(render)
