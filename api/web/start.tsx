import './styles/design.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/run.css'
import './styles/agents.css'
import './styles/views.css'
import './styles/audit.css'
import './styles/print.css'
import { type ComponentType, render } from 'preact'
import { InboxScreen } from './actions/inbox-screen.tsx'
import { logs, startFeed } from './client/feed.ts'
import { askedLink, session, sessionRefusal, takeLink } from './client/session.ts'
import { ExportedScreen } from './exported/exported-screen.tsx'
import { takeDrops } from './exported/opened.ts'
import { rememberZone } from './habits/time-zone.ts'
import { decoded } from './page/decoded.ts'
import { Guard } from './page/guard.tsx'
import { later } from './page/later.tsx'
import { followNotices } from './page/notices.ts'
import { followLink, path } from './page/router.ts'
import { Notice, Shell } from './page/shell.tsx'
import { SignIn, SignInAs } from './page/sign-in.tsx'
import { followTitle } from './page/title.ts'
import { followWaiting } from './page/waiting.ts'
import { RunsScreen } from './runs/runs-screen.tsx'

// Screens load when they are first shown. The list of runs and the inbox come with the page.
const AccessScreen = later(async () => (await import('./access/access-screen.tsx')).AccessScreen)
const AuditScreen = later(async () => (await import('./audit/audit-screen.tsx')).AuditScreen)
const CompareScreen = later(async () => (await import('./compare/compare-screen.tsx')).CompareScreen)
const DocumentScreen = later(async () => (await import('./documents/document-screen.tsx')).DocumentScreen)
const DocumentsScreen = later(async () => (await import('./documents/documents-screen.tsx')).DocumentsScreen)
const KeepingScreen = later(async () => (await import('./keeping/keeping-screen.tsx')).KeepingScreen)
const NumbersScreen = later(async () => (await import('./numbers/numbers-screen.tsx')).NumbersScreen)
const PackScreen = later(async () => (await import('./pack/pack-screen.tsx')).PackScreen)
const ProofScreen = later(async () => (await import('./proof/proof-screen.tsx')).ProofScreen)

const RunScreen = later(async () => (await import('./run/run-screen.tsx')).RunScreen)
const StartScreen = later(async () => (await import('./start/start-screen.tsx')).StartScreen)
const HealthScreen = later(async () => (await import('./doctor/health-screen.tsx')).HealthScreen)
const WebhooksScreen = later(async () => (await import('./webhooks/webhooks-screen.tsx')).WebhooksScreen)

/** The screens for files, which need no session. */
const VIEWERS: Readonly<Record<string, ComponentType>> = { '/exported': ExportedScreen, '/pack': PackScreen }

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
  if (path.value === '/proof') return <ProofScreen />
  if (path.value === '/access') return <AccessScreen />
  if (path.value === '/retention') return <KeepingScreen />
  if (path.value === '/health') return <HealthScreen />
  if (path.value === '/webhooks') return <WebhooksScreen />
  const Viewer = VIEWERS[path.value]
  if (Viewer !== undefined) return <Viewer />
  return <Notice title="There is no such page" />
}

function Page() {
  if (askedLink.value !== null) return <SignInAs {...askedLink.value} />
  if (session.value !== null)
    return (
      <Shell>
        <Guard key={`${logs.value} ${path.value}`}>
          <Screen />
        </Guard>
      </Shell>
    )
  const Viewer = VIEWERS[path.value]
  if (Viewer === undefined) return <SignIn />
  return (
    <main id="content">
      <Guard>
        <Viewer />
      </Guard>
    </main>
  )
}

rememberZone()
await takeLink().catch(() => {
  sessionRefusal.value = 'the server does not answer; look whether "keepup serve" is running'
})
document.addEventListener('click', followLink)
takeDrops()
startFeed()
followWaiting()
followTitle()
followNotices()
render(<Page />, document.getElementById('page')!)
