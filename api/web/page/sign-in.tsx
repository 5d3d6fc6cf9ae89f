import { sessionRefusal } from '../client/session.ts'

/** The screen for a browser without a session. */
export function SignIn() {
  return (
    <main class="notice" id="content">
      <h1>Open this page with a link of its own</h1>
      {sessionRefusal.value !== null && <p role="alert">{sessionRefusal.value}</p>}
      <p>This browser has no session with this server, or it has ended. On the computer of the server, type:</p>
      <pre>keepup open</pre>
      <p>
        An exported run can be viewed without a session: drop its file on this page, or{' '}
        <a href="/exported">choose it</a>.
      </p>
      <p class="quiet">The link works once, within a minute. A session lasts twelve hours.</p>
    </main>
  )
}
