// A certified provider for the tests, where whoever names an account is signed in as that account.
// node provider.mjs FOLDER PORT REDIRECT PEOPLE BEHIND: oidc-provider is installed in FOLDER, PEOPLE are claims by
// account as JSON, BEHIND is how many seconds its clock is behind ours, so that a sign-in is so old when it begins
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [folder, port, redirect, told, behind] = process.argv.slice(2);
const now = Date.now;
Date.now = () => now() - Number(behind) * 1000;
const people = JSON.parse(told);
const found = createRequire(`${folder}/package.json`).resolve('oidc-provider');
const { default: Provider, interactionPolicy } = await import(pathToFileURL(found));
const address = `http://127.0.0.1:${port}`;
const policy = interactionPolicy.base();
// what Streamlit asks for; nobody here has two accounts to choose from
policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);

const provider = new Provider(address, {
  clients: [{
    client_id: 'medir',
    client_secret: 'a-secret-of-the-tests',
    redirect_uris: [redirect],
    post_logout_redirect_uris: [redirect],
  }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  conformIdTokenClaims: false,
  cookies: { keys: ['a-key-of-the-tests'] },
  features: { devInteractions: { enabled: false } },
  interactions: { policy, url: (_context, interaction) => `/sign-in/${interaction.uid}` },
  findAccount: (_context, id) => people[id] && ({ accountId: id, claims: async () => ({ sub: id, ...people[id] }) }),
  pkce: { required: () => true },
});

provider.use(async (context, next) => {
  if (!context.path.startsWith('/sign-in/')) return next();
  const details = await provider.interactionDetails(context.req, context.res);
  const account = new URL(context.href).searchParams.get('account');
  if (!account) {
    context.type = 'html';
    context.body = `<h1>Who is it?</h1><form><input name="account"><button>Go</button></form>`;
    return undefined;
  }
  const grant = new provider.Grant({ accountId: account, clientId: details.params.client_id });
  grant.addOIDCScope('openid email profile');
  const result = { login: { accountId: account }, select_account: {}, consent: { grantId: await grant.save() } };
  return provider.interactionFinished(context.req, context.res, result, { mergeWithLastSubmission: false });
});

provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
