// First import of each library entry: an old Node gets one sentence instead of the first thing that it does not know.
if (Number(process.versions.node.split('.')[0]) < 24) {
  const error = new Error(
    `keepup needs Node.js 24 or newer; this is ${process.version}. Install it from https://nodejs.org`,
  )
  // A stack trace would not help the user.
  error.stack = String(error)
  throw error
}

export {}
