import { useEffect, useState } from 'preact/hooks'
import {
  askedLink,
  exchangeCode,
  type SignInWays,
  session,
  sessionRefusal,
  signInWays,
  signInWithKey,
} from '../client/session.ts'

const NO_ANSWER = 'the server does not answer; look whether "keepup serve" is running'
const refuse = () => {
  sessionRefusal.value = NO_ANSWER
}

/** The screen for a browser without a session. */
export function SignIn() {
  const [{ issuer, keys }, setWays] = useState<SignInWays>({ issuer: null, keys: false })
  useEffect(() => void signInWays().then(setWays, () => {}), [])
  const isOnly = issuer === null && !keys
  return (
    <main class="notice" id="content">
      <h1>{isOnly ? 'Open this page with a link of its own' : 'Sign in'}</h1>
      {sessionRefusal.value !== null && <p role="alert">{sessionRefusal.value}</p>}
      {issuer !== null && (
        <p>
          {/* With a target the browser follows the link itself: it leads away from the page. */}
          <a class="button" href="/v1/session/oidc" target="_self">
            Sign in with {issuer}
          </a>
        </p>
      )}
      {keys && <KeyForm />}
      <p>
        {isOnly
          ? 'This browser has no session with this server, or it has ended. On the computer of the server, type:'
          : 'Or, with a key, on the computer of the server:'}
      </p>
      <pre>keepup open</pre>
      <p>
        An exported run can be viewed without a session: drop its file on this page, or{' '}
        <a href="/exported">choose it</a>.
      </p>
      <p class="quiet">The link works once, within a minute. A session lasts twelve hours at most.</p>
    </main>
  )
}

function KeyForm() {
  const [key, setKey] = useState('')
  return (
    <form
      class="pair"
      onSubmit={(event) => {
        event.preventDefault()
        signInWithKey(key.trim()).catch(refuse)
      }}
    >
      <input
        type="password"
        autocomplete="off"
        aria-label="Key"
        placeholder="ku_key_…"
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <button type="submit" disabled={key.trim() === ''}>
        Sign in with a key
      </button>
    </form>
  )
}

/** Asks before a link signs the person in: the link may come from another person. */
export function SignInAs({ code, by }: { readonly code: string; readonly by: string | null }) {
  const present = session.value?.by ?? null
  const signIn = () => exchangeCode(code).catch(refuse)
  return (
    <main class="notice" id="content">
      <h1>Sign in as {by}?</h1>
      <p>
        A link signs you in as <b>{by}</b>
        {present !== null && (
          <>
            {' '}
            in place of <b>{present}</b>
          </>
        )}
        . Go on only if you made this link with <code>keepup open</code>.
      </p>
      <p class="actions">
        <button type="button" onClick={signIn}>
          Sign in as {by}
        </button>{' '}
        <button type="button" onClick={() => (askedLink.value = null)}>
          Do not sign in
        </button>
      </p>
    </main>
  )
}
