import './styles/base.css'
import './styles/layout.css'
import './styles/run.css'
import './styles/views.css'
import './styles/audit.css'
import { render } from 'preact'
import { InboxScreen } from './actions/inbox-screen.tsx'
import { StartScreen } from './actions/start-screen.tsx'
import { AuditScreen } from './audit/audit-screen.tsx'
import { logs, startFeed } from './client/feed.ts'
import { exchangeCode, session, sessionRefusal } from './client/session.ts'
import { CompareScreen } from './compare/compare-screen.tsx'
import { DocumentScreen } from './documents/document-screen.tsx'
import { DocumentsScreen } from './documents/documents-screen.tsx'
import { ExportedScreen } from './exported/exported-screen.tsx'
import { takeDrops } from './exported/opened.ts'
import { rememberZone } from './habits/time-zone.ts'
import { NumbersScreen } from './numbers/numbers-screen.tsx'
import { decoded } from './page/decoded.ts'
import { Guard } from './page/guard.tsx'
import { followLink, path } from './page/router.ts'
import { Notice, Shell } from './page/shell.tsx'
import { SignIn } from './page/sign-in.tsx'
import { followTitle } from './page/title.ts'
import { followWaiting } from './page/waiting.ts'
import { RunScreen } from './run/run-screen.tsx'
import { RunsScreen } from './runs/runs-screen.tsx'

function Screen() {
  const [, runId] = /^\/runs\/([^/]+)$/.exec(path.value) ?? []
  if (runId !== undefined) return <RunScreen key={runId} runId={decoded(runId)} />
  if (path.value === '/') return <RunsScreen />
  if (path.value === '/inbox') return <InboxScreen />
  const [, documentId] = /^\/documents\/([0-9a-z]+)$/.exec(path.value) ?? []
  if (documentId !== undefined) return <DocumentScreen key={documentId} documentId={documentId} />
  if (path.value === '/documents') return <DocumentsScreen />
  if (path.value === '/compare') return <CompareScreen />
  if (path.value === '/start') return <StartScreen />
  if (path.value === '/numbers') return <NumbersScreen />
  if (path.value === '/audit') return <AuditScreen />
  if (path.value === '/exported') return <ExportedScreen />
  return <Notice title="There is no such page" />
}

const Page = () =>
  session.value === null ? (
    // Viewing an export needs no server.
    path.value === '/exported' ? (
      <main id="content">
        <Guard>
          <ExportedScreen />
        </Guard>
      </main>
    ) : (
      <SignIn />
    )
  ) : (
    <Shell>
      <Guard key={`${logs.value} ${path.value}`}>
        <Screen />
      </Guard>
    </Shell>
  )

rememberZone()
await exchangeCode().catch(() => {
  sessionRefusal.value = 'the server does not answer; look whether "keepup serve" is running'
})
document.addEventListener('click', followLink)
takeDrops()
startFeed()
followWaiting()
followTitle()
render(<Page />, document.getElementById('page')!)
