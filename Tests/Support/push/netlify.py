"""Netlify's API for stand-in.py, as its OpenAPI document (netlify/open-api, swagger.yml) and its command line have it: the
environment variables of the site `site-1` of the team `shop`, builds and deploys. A variable of the site is the JSON in the file
`variable` of the directory, which is kept up to date. In the file `plan`, `free` refuses scopes. Each deploy is published two looks
after it began, unless a file `ends` says error, skipped or unpublished; a file `deployments` is what every list of them is, and a
file `serving` names the deploy that serves. What makes it late is said in stand-in.py.
"""

import datetime
import json

CONTEXTS = {"all", "dev", "dev-server", "branch-deploy", "deploy-preview", "production"}
SCOPES = {"builds", "functions", "runtime", "post-processing"}
MISSING = 404, {"code": 404, "message": "Not Found"}


def now(milliseconds_ago=0):
    moment = datetime.datetime.now(datetime.UTC) - datetime.timedelta(milliseconds=milliseconds_ago)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def wrong(message):
    return 422, {"code": 422, "message": message}


def read(api):
    text = api.server.file("variable")
    return json.loads(text) if text else None


def write(api, variable):
    if api.keeps:
        api.server.variables.setdefault("", []).append((api.server.now(), now()))
        (api.server.directory / "variable").write_text(json.dumps(variable | {"updated_at": now()}))


def shown(variable):
    """Values of a secret are masked, but for local development."""
    values = [
        value | ({"value": "****"} if variable["is_secret"] and value["context"] != "dev" else {})
        for value in variable["values"]]
    return variable | {"values": values}


def is_value(value, is_secret):
    return set(value) == {"context", "value"} and isinstance(value["value"], str) and (
        value["context"] in CONTEXTS - {"all", "dev"} if is_secret else value["context"] in CONTEXTS)


def variables(api, account):
    api.bearer()
    if account != "shop" or api.query != {"site_id": "site-1"}:
        return MISSING
    if api.command != "POST" or api.headers.get("Content-Type") != "application/json":
        return 405, {"code": 405, "message": "Method Not Allowed"}
    made, = json.loads(api.text)
    if set(made) != {"key", "is_secret", "scopes", "values"} or not set(made["scopes"]) <= SCOPES:
        return wrong("members")
    if made["is_secret"] and "post-processing" in made["scopes"]:
        return wrong("Secret values cannot be used within the post-processing scope.")
    if not all(is_value(value, made["is_secret"]) for value in made["values"]):
        return wrong("values")
    if api.server.file("plan") == "free":
        return 403, {"code": 403, "message": "Upgrade your Netlify account to set specific scopes"}
    if read(api):
        return 409, {"code": 409, "message": "exists"}
    write(api, made)
    api.server.hold(api, made["values"][0]["value"])
    return 201, [shown(made | {"updated_at": now()})]


def variable(api, account, key):
    api.bearer()
    held = read(api)
    if account != "shop" or api.query != {"site_id": "site-1"} or not held or held["key"] != key:
        return MISSING
    if api.command == "PATCH":
        value = api.json(context=str, value=str)
        if not is_value(value, held["is_secret"]):
            return wrong("value")
        held["values"] = [one for one in held["values"] if one["context"] != value["context"]] + [value]
        write(api, held)
        api.server.hold(api, value["value"])
        return 201, shown(held)
    if times := api.server.variables.get(""):
        times = [at for moment, at in times if moment <= api.server.late("variables")]
        if not times:
            return MISSING
        held["updated_at"] = times[-1]
    return 200, shown(held)


def site(api, name):
    api.bearer()
    if name not in ("site-1", "shop.example.com") or api.query:
        return MISSING
    published = [deploy for deploy in api.server.deployments if deploy["published_at"]]
    serving = api.server.file("serving") or (published[-1]["id"] if published else "deploy-0")
    began = [deploy["created_at"] for deploy in published if deploy["id"] == serving]
    shown = {"id": serving, "created_at": (began or ["2023-11-14T22:13:20.000Z"])[0]}
    return 200, {"id": "site-1", "account_slug": "shop", "published_deploy": shown}


def deploys(api, name):
    api.bearer()
    if name != "site-1" or api.query != {"production": "true", "per_page": "20"}:
        return MISSING
    if (made := api.server.file("deployments")) is not None:
        return 200, made.encode()
    listed = [one for one in api.server.deployments if one["begun"] <= api.server.late("deployments")]
    for one in listed:
        go_on(api, one)
    return 200, listed[::-1]


def go_on(api, deploy):
    end = api.server.file("ends") or "ready"
    if deploy["state"] == "building":
        deploy["state"] = {"skipped": "error", "unpublished": "ready"}.get(end, end)
        if end == "ready":
            deploy["published_at"] = now()
        if end == "skipped":
            deploy |= {"skipped": True, "error_message": "Canceled build due to no content change"}
    elif deploy["state"] == "enqueued":
        deploy["state"] = "building"


def deploy(api, name, identifier):
    api.bearer()
    found = [one for one in api.server.deployments if one["id"] == identifier]
    if name != "site-1" or api.command != "GET" or api.query or not found \
            or api.server.file("unknown-deployments") is not None:
        return MISSING
    go_on(api, found[0])
    return 200, found[0]


def builds(api, name):
    api.bearer()
    if name != "site-1" or api.command != "POST" or api.query or json.loads(api.text) != {}:
        return MISSING
    identifier = f"deploy-{len(api.server.deployments) + 1}"
    behind = int(api.server.file("clock-behind") or 0)
    api.server.deployments.append({
        "id": identifier, "context": "production", "state": "enqueued", "created_at": now(behind), "published_at": None,
        "begun": api.server.now()})
    return 200, {"id": "build-1", "deploy_id": identifier, "done": False}


ROUTES = [
    (r"/api/v1/accounts/([^/]+)/env", variables),
    (r"/api/v1/accounts/([^/]+)/env/([^/]+)", variable),
    (r"/api/v1/sites/([^/]+)", site),
    (r"/api/v1/sites/([^/]+)/deploys", deploys),
    (r"/api/v1/sites/([^/]+)/deploys/([^/]+)", deploy),
    (r"/api/v1/sites/([^/]+)/builds", builds),
]
