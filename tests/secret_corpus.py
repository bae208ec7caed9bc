"""Texts with one secret and texts with none, none of which was used to choose the rules of masking.

Secrets are drawn from the shapes that their makers publish, with a fixed seed, and put together here from parts, so
that no scanner takes this file for a leak. The sentences around them are of the kind that people and agents write.
"""

import base64
import random
import string
from collections.abc import Iterator

_RANDOM = random.Random(20260731)
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
WORD = ALNUM + "_-"
DIGITS = string.digits


def drawn(count: int, signs: str = ALNUM) -> str:
    """So many signs, beginning and ending with one that is no punctuation."""
    text = "".join(_RANDOM.choice(signs) for _ in range(count - 2))
    ends = [sign for sign in signs if sign.isalnum()]
    return _RANDOM.choice(ends) + text + _RANDOM.choice(ends)


def _password() -> str:
    syllables = ["ba", "ko", "mir", "tu", "zen", "lo", "Pra", "Vi", "xe", "gua"]
    word = "".join(_RANDOM.choice(syllables) for _ in range(3))
    return f"{word}{_RANDOM.choice('!@#%*+?')}{_RANDOM.randrange(10, 9999)}"


def _b64(count: int) -> str:
    return base64.b64encode(_RANDOM.randbytes(count)).decode()


def _jwt() -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = (
        base64.urlsafe_b64encode(b'{"sub":"' + drawn(10).encode() + b'","iat":1516239022}')
        .decode()
        .rstrip("=")
    )
    return f"{head}.{body}.{drawn(43, WORD)}"


def _tokens() -> Iterator[str]:
    for _ in range(2):
        yield f"medir_{drawn(12, HEX)}_{drawn(43, WORD)}"
        yield "ghp" + f"_{drawn(36)}"
        yield "ghs" + f"_{drawn(36)}"
        yield "github" + f"_pat_{drawn(22)}_{drawn(59)}"
        yield "glpat" + f"-{drawn(20, WORD)}"
        yield "AKIA" + drawn(16, UPPER)
        yield "ASIA" + drawn(16, UPPER)
        yield "AIza" + drawn(35, WORD)
        yield "ya29" + f".{drawn(60, WORD)}"
        yield "GOCSPX" + f"-{drawn(28, WORD)}"
        yield "sk-ant" + f"-api03-{drawn(93, WORD)}AA"
        yield "sk-proj" + f"-{drawn(74, WORD)}"
        yield "sk-svcacct" + f"-{drawn(74, WORD)}"
        yield "sk-" + drawn(20) + "T3Blbk" + "FJ" + drawn(20)
        yield "sk-or-v1" + f"-{drawn(64, HEX)}"
        yield "gsk" + f"_{drawn(52)}"
        yield "hf" + f"_{drawn(34)}"
        yield "r8" + f"_{drawn(37)}"
        yield "xoxb" + f"-{drawn(12, DIGITS)}-{drawn(13, DIGITS)}-{drawn(24)}"
        yield "xoxp" + f"-{drawn(12, DIGITS)}-{drawn(12, DIGITS)}-{drawn(12, DIGITS)}-{drawn(32, HEX)}"
        yield "xapp" + f"-1-A{drawn(10, UPPER)}-{drawn(13, DIGITS)}-{drawn(64, HEX)}"
        yield f"https://hooks.slack.com/services/T{drawn(10, UPPER)}/B{drawn(10, UPPER)}/{drawn(24)}"
        yield "sk_live" + f"_{drawn(24)}"
        yield "rk_test" + f"_{drawn(24)}"
        yield "npm" + f"_{drawn(36)}"
        yield "pypi" + f"-AgEIcHlwaS5vcmc{drawn(70, WORD)}"
        yield "dckr" + f"_pat_{drawn(27, WORD)}"
        yield "hvs" + f".{drawn(95, WORD)}"
        yield "dop" + f"_v1_{drawn(64, HEX)}"
        yield "SG" + f".{drawn(22, WORD)}.{drawn(43, WORD)}"
        yield "shpat" + f"_{drawn(32, HEX)}"
        yield "dapi" + drawn(32, HEX)
        yield "glsa" + f"_{drawn(32)}_{drawn(8, HEX)}"
        yield "lin_api" + f"_{drawn(40)}"
        yield "ntn" + f"_{drawn(46)}"
        yield "NRAK" + f"-{drawn(27, UPPER)}"
        yield "pul" + f"-{drawn(40, HEX)}"
        yield "PMAK" + f"-{drawn(24, HEX)}-{drawn(34, HEX)}"
        yield f"{drawn(9, DIGITS)}:AA{drawn(33, WORD)}"
        yield f"{drawn(32, HEX)}-us{_RANDOM.randrange(1, 21)}"
        yield _jwt()


_AROUND = (
    "{}",
    "usa esse token aqui: {} e me avisa",
    "I pasted it by mistake: `{}`",
    'headers = {{"X-Token": "{}"}}',
    "TOKEN={}\nPORT=8501",
    "o deploy falhou com ({}), por quê?",
    "curl -s https://api.exemplo.com.br/v1 -H 'Authorization: Bearer {}'",
    "{}, que vence amanhã.",
)


def _named_secrets() -> Iterator[tuple[str, str]]:
    """Secrets without a shape of their own: what says that they are some."""
    for text in (
        "redis://:{}@cache.interno:6379/0",
        "postgresql://medir:{}@db.interno/medir",
        "mongodb+srv://app:{}@cluster0.abcde.mongodb.net/?retryWrites=true",
        "amqp://fila:{}@rabbit:5672/%2f",
        "jdbc:postgresql://db:5432/app?user=app&password={}",
        "jdbc:sqlserver://db:1433;databaseName=app;user=sa;password={};encrypt=true",
        "PGPASSWORD={} psql -h db -U medir",
        "export MYSQL_PWD={}",
        "DB_PASSWORD={}",
        'DATABASE_PASSWORD="{}"',
        "spring.datasource.password={}",
        "    password: {}",
        "password: '{}'",
        '{{"user": "ana", "password": "{}"}}',
        '"{{\\"password\\": \\"{}\\"}}"',
        "senha: {}",
        "Senha do wifi: {}",
        "a senha do banco de produção é {}",
        "a senha é {}, não conta pra ninguém",
        "my password is {}",
        "the database password is `{}`",
        "login: ana senha: {}",
        "docker login -u ana --password {}",
        "curl -u ana:{} https://interno.exemplo.com.br",
        "mysql -u root -p{} app",
        "sshpass -p {} ssh ana@host",
        "machine api.exemplo.com login ana password {}",
        "Server=tcp:db,1433;User ID=ana;Password={};",
        "smtp_pass = '{}'",
        "LDAP_BIND_PASSWORD={}",
        "admin_passwd={}",
        "passphrase: {}",
        "ansible_become_pass: {}",
        "conn = connect(host='db', user='ana', password='{}')",
        "ALTER USER ana WITH PASSWORD '{}';",
    ):
        secret = _password()
        yield text.format(secret), secret
    for text, secret in (
        ("AWS_SECRET_ACCESS_KEY={}", drawn(40, ALNUM + "/+")),
        ("aws_secret_access_key = {}", drawn(40, ALNUM + "/+")),
        ('"SecretAccessKey": "{}"', drawn(40, ALNUM + "/+")),
        ("Authorization: Bearer {}", drawn(40, WORD)),
        ("authorization: bearer {}", drawn(32, HEX)),
        ("Authorization: Basic {}", _b64(24)),
        ("Authorization: Token {}", drawn(40, HEX)),
        ("X-Api-Key: {}", drawn(32)),
        ("x-auth-token: {}", drawn(32)),
        ("api_key={}", drawn(32, HEX)),
        ("OPENWEATHER_API_KEY={}", drawn(32, HEX)),
        ("apikey: '{}'", drawn(30)),
        ("API_TOKEN={}", drawn(30)),
        ("client_secret={}", drawn(34, WORD)),
        ('"clientSecret": "{}"', drawn(34, WORD)),
        ("SECRET_KEY = '{}'", drawn(50, ALNUM + "!@#%^&*(-_=+)").replace("'", "x")),
        ("JWT_SECRET={}", drawn(48)),
        ("refresh_token={}", drawn(60, WORD)),
        ("https://api.exemplo.com/v1?access_token={}&page=2", drawn(40)),
        ("https://maps.exemplo.com/js?api_key={}&v=3", drawn(32)),
        ("AccountKey={};EndpointSuffix=core.windows.net", _b64(64)),
        ("SharedAccessKey={}", _b64(32)),
        ("https://a.blob.core.windows.net/c/f?sv=2024-01-01&se=2026-12-31&sig={}", drawn(43) + "%3D"),
        ("//npm.example.org/:_authToken={}", drawn(36)),
        ('"auths": {{"https://index.docker.io/v1/": {{"auth": "{}"}}}}', _b64(30)),
        ("https://{}@github.com/org/repo.git", drawn(40)),
        ("https://oauth2:{}@gitlab.com/org/repo.git", drawn(24)),
        ("vault login --token={}", drawn(26)),
        ("minha chave de API é {}", drawn(32)),
        ("o token é {}", drawn(32)),
        ("the api key is {}", drawn(32)),
        ("token: {}", drawn(40)),
        ("encryption_key: {}", drawn(44)),
        ("private_key = {}", drawn(64, HEX)),
        ("webhook secret: {}", drawn(32, HEX)),
        ("o secret do webhook é {}", drawn(28)),
    ):
        yield text.format(secret), secret
    key = "\n".join(_b64(48) for _ in range(12))
    for kind in ("PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"):
        yield f"a chave:\n-----BEGIN {kind}-----\n{key}\n-----END {kind}-----\nfim", key
    escaped = key.replace("\n", "\\n")
    yield f'"private_key": "-----BEGIN PRIVATE KEY-----\\n{escaped}\\n-----END PRIVATE KEY-----\\n"', escaped
    yield f"cortada:\n-----BEGIN PRIVATE KEY-----\n{key}\n", key


SECRETS: tuple[tuple[str, str], ...] = (
    *((_AROUND[n % len(_AROUND)].format(token), token) for n, token in enumerate(_tokens())),
    *_named_secrets(),
)
"""Each text with the secret in it."""


def _ids() -> Iterator[str]:
    for text in (
        "commit {}",
        "git checkout {} e roda de novo",
        "revertido em {}.",
        "HEAD is now at {}",
        "merge de {} na main",
    ):
        yield text.format(drawn(40, HEX))
        yield text.format(drawn(7, HEX))
    for text in ("sha256:{}", "o digest {} não confere", 'checksum = "{}"', "ETag: {}", "{}  pacote.tar.gz"):
        yield text.format(drawn(64, HEX))
    for text in ("md5 {}", '"contentHash": "{}"', "cache key {}"):
        yield text.format(drawn(32, HEX))
    for text in (
        "sessionId={}",
        'id: "{}"',
        "o pedido {} sumiu",
        "/api/runs/{}/stop",
        "trace {}",
        "userId: {}",
    ):
        uuid = f"{drawn(8, HEX)}-{drawn(4, HEX)}-4{drawn(3, HEX)}-a{drawn(3, HEX)}-{drawn(12, HEX)}"
        yield text.format(uuid)
    for number in range(8):
        sku = f"{_RANDOM.choice(['TRP', 'RN', 'SKU', 'NF', 'PED'])}-{drawn(4, DIGITS)}"
        yield ("produto {}", "regra {} vale", "SKU: {}", "o item {}-AZ chegou")[number % 4].format(sku)
    for _ in range(3):
        yield f"![logo](data:image/png;base64,{_b64(300)})"
        yield f'integrity="sha384-{_b64(48)}"'
        yield f"https://cdn.exemplo.com.br/assets/app.{drawn(8, HEX)}.js"
        yield f"https://docs.google.com/document/d/{drawn(44, WORD)}/edit"
        yield f"https://youtu.be/{drawn(11, WORD)}"


PLAIN: tuple[str, ...] = (
    *_ids(),
    # sentences about secrets
    "A senha precisa ter pelo menos 12 caracteres, com número e símbolo.",
    "Esqueci a senha, como eu troco?",
    "senha: obrigatória, mínimo de 8 caracteres",
    "O token expira em 90 dias e é renovado sozinho.",
    "Token: texto opaco, sem significado para o cliente.",
    "token inválido ou vencido",
    "The token is refreshed every 15 minutes.",
    "The password is stored as a hash, never in clear.",
    "The secret is rotated by the operator.",
    "O segredo é guardado no cofre da equipe.",
    "A chave de API é criada na tela de integrações.",
    "api key: veja a página de integrações",
    "O limite é de 4096 tokens: o resto é cortado.",
    "max_tokens: 2048, temperature: 0.2",
    "tokens=15320 custo=0.03",
    "password: required, 8-64 chars",
    "A regra RN-114 fala de senha de 6 dígitos.",
    "Use Bearer tokens for machine clients.",
    "Bearer authentication with opaque tokens is documented in docs/security.md.",
    "the key is to keep chunks small",
    "O teste passa: 12 de 14 casos.",
    "pass: 12, fail: 2, skip: 1",
    "passed in 38.20s",
    "A ponte :// é o separador do esquema.",
    "O cabeçalho -----BEGIN PRIVATE KEY----- indica uma chave PKCS#8. Depois dele vem base64.",
    "Look for `-----BEGIN RSA PRIVATE KEY-----` and `-----END RSA PRIVATE KEY-----` in the file, then delete it.",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n<sua chave aqui>\n-----END PRIVATE KEY-----",
    # placeholders
    "API_KEY=<sua-chave>",
    "API_KEY=your-api-key-here",
    "TOKEN=seu_token_aqui_123",
    "export GITHUB_TOKEN=ghp_" + "x" * 36,
    "AWS_ACCESS_KEY_ID=AKIA" + "IOSFODNN7" + "EXAMPLE",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "password: ********",
    "senha: ••••••••",
    "password=changeme",
    "PASSWORD=change_me_123",
    "DB_PASSWORD=${DB_PASSWORD}",
    "DB_PASSWORD=$DB_PASSWORD",
    "password: {{ vault_db_password }}",
    "password: !vault |",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer YOUR_TOKEN_HERE",
    "postgres://usuario:senha@localhost:5432/banco",
    "postgresql://user:password@host/db",
    "postgres://${DB_USER}:${DB_PASS}@${DB_HOST}/app",
    "redis://localhost:6379/0",
    "mongodb://user:<password>@host/db",
    "password=[REDACTED]",
    "token=...",
    "sk-ant-...",
    "sk-proj-" + "X" * 20,
    "secret: xxxxxxxxxxxxxxxx",
    "api_key: 000000000000",
    "apiKey: 'YOUR-API-KEY'",
    "senha=EXEMPLO123",
    # code
    "def entrar(usuario: str, senha: str, token: str | None = None) -> Caller:",
    "password = getpass.getpass('Senha: ')",
    "password = request.form['password']",
    "token = request.headers.get('Authorization')",
    "token = response.json()['access_token']",
    "self.password = password",
    "secret_key = settings.SECRET_KEY",
    "const token = await getAccessToken(user);",
    "const { password, ...rest } = user;",
    "password: passwordSchema,",
    "password: z.string().min(8),",
    "password: hashedPassword",
    "token: accessToken,",
    "tokenType: 'Bearer'",
    "token_type=bearer&expires_in=3600",
    "if (!token) throw new Error('sem token');",
    "assert token == expected_token",
    "password_hash=bcrypt.hash(password)",
    "os.environ['PGPASSWORD'] = senha",
    "password=os.getenv('DB_PASSWORD')",
    "secrets.token_urlsafe(32)",
    "hmac.compare_digest(token_hash, expected)",
    "SELECT token_id, secret_hash FROM tokens WHERE revoked_at IS NULL",
    "secretName: medir-db-credentials",
    "secretKeyRef:\n  name: db\n  key: password",
    "passwordField.type = 'password'",
    '<input type="password" name="senha" placeholder="Sua senha">',
    "kubectl get secret medir-tls -o yaml",
    "echo $TOKEN | docker login --password-stdin",
    "medir token create --name ci --role viewer",
    "medir token revoke ci-2026",
    "--password-file /run/secrets/db_password",
    "password_file: /run/secrets/postgres-passwd",
    "credentials: include",
    "credential: same-origin",
    "private_key: ~/.ssh/id_ed25519",
    "api_key: Optional[str] = None",
    "token: SecretStr",
    "TokenKind.ACCESS: 'access'",
    "pwd: /home/ana/projetos/medir",
    "PWD=/srv/medir",
    "OLDPWD=/tmp",
    # addresses, numbers, names
    "https://exemplo.com.br/artigos/2026/03/calibracao-de-busca?utm_source=x&utm_medium=y",
    "http://localhost:8501/Calibration?project=medir&token_limit=50",
    "https://pt.wikipedia.org/wiki/Senha#Hist%C3%B3ria",
    "git@github.com:org/medir.git",
    "ssh://git@gitlab.exemplo.com:2222/org/repo.git",
    "ana.souza@exemplo.com.br",
    "docs/adr/0007-roles-and-tokens.md",
    "rag_core/sources/masking.py:120",
    "C:\\Users\\Ana\\Documents\\senhas.txt",
    "/var/lib/medir/tokens.json",
    "ISBN 978-85-7522-632-9",
    "#1a2b3c e #ff8800",
    "background: #0f172a; color: rgb(15, 23, 42)",
    "2026-03-01T12:34:56.789012+00:00",
    "192.168.10.24:5432",
    "2001:db8:85a3::8a2e:370:7334",
    "CEP 01310-100, telefone (11) 3456-7890",
    "CNPJ 11.222.333/0001-81",
    "versão 18.6.1-beta.3+build.20260301",
    "nomic-embed-text:latest 0a109f422b47",
    "python3.11-slim-bookworm@linux/amd64",
    "kernel 6.8.0-45-generic x86_64",
    "pgvector 0.8.1, PostgreSQL 18.1",
    "use_mistral_7b_instruct_v0_2",
    "sk-learn-contrib/imbalanced-learn",
    "task-2026-03-calibrar-pesos",
    "npm_config_registry=https://registry.exemplo.com.br",
    "hf_transfer e hf_hub_download",
    "key-value, key-signing-party, monkey-patch",
    "eyJ é como começa um JWT em base64",
    "AKIA é o prefixo das chaves da AWS; ghp_ é o do GitHub.",
    "glpat- e xoxb- também são prefixos",
    "medir_home, medir_port e medir_embedding",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    "SG.UN é a sigla do setor",
    "LTAI? não conheço.",
    "pip install detect-secrets==1.5.0",
    "x = 'abcdefghijklmnopqrstuvwxyz0123456789'",
    "abc123def456 não é nada",
    "MIIB começa muitas chaves em DER",
    "0x7ffee4c3a9b8 em __libc_start_main",
    "GPG fingerprint 3AA5 C343 71D1 1F2A 8E2C",
    "Bearer of bad news, the build is broken.",
    "basic auth is off by default",
    "Basic Authentication: enabled",
)
"""Texts that masking leaves as they are."""
