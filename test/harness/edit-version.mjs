// An editor for `kubectl edit`: changes the version of a job, as a person might.
import { readFileSync, writeFileSync } from 'node:fs'

const file = process.argv[2]
writeFileSync(file, readFileSync(file, 'utf8').replace(/^( {2}version:).*$/m, '$1 v9.9.9'))
